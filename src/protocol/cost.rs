//! The cost of a session, as a front end shows it.

/// Dollars of a session, and how sure they are.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Cost {
    /// The sum of the steps whose price is known.
    pub dollars: f64,
    /// True if a part of it is by the built-in table of prices, which may be out of date.
    pub estimated: bool,
    /// A step has no price: it is more.
    pub partial: bool,
}

impl Cost {
    /// Returns it to the cent, with `about` in front of what is estimated: `≈$0.42+`.
    pub fn text(&self, about: &str) -> String {
        let (about, more) = (if self.estimated { about } else { "" }, if self.partial { "+" } else { "" });
        format!("{about}${:.2}{more}", self.dollars)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_estimated_cost_is_marked() {
        let cost = Cost { dollars: 0.416, ..Cost::default() };
        assert_eq!(cost.text("≈"), "$0.42");
        assert_eq!(Cost { estimated: true, ..cost }.text("≈"), "≈$0.42");
        assert_eq!(Cost { estimated: true, partial: true, ..cost }.text("~"), "~$0.42+");
    }
}
