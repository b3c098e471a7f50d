//! What the shop sells, and for how much.

use std::cell::Cell;
use std::collections::HashMap;

use crate::money::Money;

pub type ProductId = u32;

/// Stands for a database: it counts how often it is asked.
pub struct Catalog {
    rows: HashMap<ProductId, Money>,
    queries: Cell<usize>,
}

impl Catalog {
    pub fn open(rows: impl IntoIterator<Item = (ProductId, Money)>) -> Self {
        Catalog {
            rows: rows.into_iter().collect(),
            queries: Cell::new(0),
        }
    }

    /// How often the database was asked.
    pub fn queries(&self) -> usize {
        self.queries.get()
    }

    /// The price of one product.
    pub fn price_of(&self, id: ProductId) -> Option<Money> {
        self.queries.set(self.queries.get() + 1);
        self.rows.get(&id).copied()
    }
}
