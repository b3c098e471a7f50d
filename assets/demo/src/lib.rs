//! A very small shop.

pub mod cart;
pub mod catalog;
pub mod money;
