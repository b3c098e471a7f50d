//! A cart: lines of products.

use crate::catalog::{Catalog, ProductId};
use crate::money::Money;

pub struct Line {
    pub product: ProductId,
    pub quantity: i64,
}

#[derive(Default)]
pub struct Cart {
    pub lines: Vec<Line>,
}

impl Cart {
    pub fn add(&mut self, product: ProductId, quantity: i64) {
        self.lines.push(Line { product, quantity });
    }

    /// What everything in the cart costs.
    pub fn total(&self, catalog: &Catalog) -> Money {
        let mut total = Money::ZERO;
        for line in &self.lines {
            let price = catalog.price_of(line.product).unwrap_or_default();
            total = total + price * line.quantity;
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn adds_up() {
        let catalog = Catalog::open([(1, Money { cents: 250 }), (2, Money { cents: 100 })]);
        let mut cart = Cart::default();
        cart.add(1, 2);
        cart.add(2, 3);
        assert_eq!(cart.total(&catalog), Money { cents: 800 });
    }
}
