//! The facts about one model.

use serde_json::{Value, json};

use super::{Effort, Thinking};
use crate::config::Price;

/// A model on offer.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Model {
    /// Its name.
    pub name: String,
    /// The facts that its server gives.
    pub facts: Facts,
}

/// The facts about a model beside its name; `None`: unknown.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Facts {
    /// Tokens that fit it.
    pub window: Option<u32>,
    /// Tokens of its longest answer.
    pub max_output: Option<u32>,
    /// The form in which it takes the effort of thinking.
    pub thinking: Option<Thinking>,
    /// The efforts it knows.
    pub efforts: Option<Vec<Effort>>,
    /// True if it takes images.
    pub images: Option<bool>,
    /// True if it takes PDFs.
    pub pdfs: Option<bool>,
    /// False if it takes no tools.
    pub tools: Option<bool>,
    /// True if it writes text, false if it only embeds.
    pub writes: Option<bool>,
    /// Dollars a million tokens.
    pub price: Option<Price>,
    /// True if cache marks are sent to it in the chat format.
    pub cache_marks: Option<bool>,
    /// Since when it is not served any more, in the server's words.
    pub retired: Option<String>,
}

impl Facts {
    /// Returns these, field by field, and the `other` ones where these say nothing.
    pub fn or(self, other: Facts) -> Facts {
        Facts {
            window: self.window.or(other.window),
            max_output: self.max_output.or(other.max_output),
            // A form without its efforts, or the reverse, would mix two sources that do not agree.
            efforts: match self.thinking {
                Some(form) if other.thinking != Some(form) => self.efforts,
                _ => self.efforts.or(other.efforts),
            },
            thinking: self.thinking.or(other.thinking),
            images: self.images.or(other.images),
            pdfs: self.pdfs.or(other.pdfs),
            tools: self.tools.or(other.tools),
            writes: self.writes.or(other.writes),
            price: self.price.or(other.price),
            cache_marks: self.cache_marks.or(other.cache_marks),
            retired: self.retired.or(other.retired),
        }
    }

    /// Returns the names of the fields that are known.
    pub fn known(&self) -> Vec<&'static str> {
        let fields = [
            ("contextWindow", self.window.is_some()),
            ("maxOutput", self.max_output.is_some()),
            ("thinking", self.thinking.is_some()),
            ("images", self.images.is_some()),
            ("pdfs", self.pdfs.is_some()),
            ("price", self.price.is_some()),
            ("retired", self.retired.is_some()),
        ];
        fields.into_iter().filter(|(_, known)| *known).map(|(name, _)| name).collect()
    }

    /// Returns as JSON the fields that are known.
    pub fn json(&self) -> Value {
        let price = self.price.as_ref().map(
            |p| json!({"input": p.input, "output": p.output, "cacheRead": p.cache_read, "cacheWrite": p.cache_write}),
        );
        json!({
            "contextWindow": self.window, "maxOutput": self.max_output, "thinking": self.thinking.map(Thinking::word),
            "images": self.images, "pdfs": self.pdfs, "price": price, "retired": self.retired,
        })
    }

    /// Reads back what [`Facts::json`] wrote, or what the table or a file holds.
    pub fn read(value: &Value) -> Facts {
        let number = |name: &str| value[name].as_u64().and_then(|n| u32::try_from(n).ok());
        let efforts = value["efforts"]
            .as_array()
            .map(|words| words.iter().filter_map(Value::as_str).filter_map(Effort::parse).collect());
        Facts {
            window: number("contextWindow"),
            max_output: number("maxOutput"),
            thinking: value["thinking"].as_str().and_then(Thinking::parse),
            efforts,
            images: value["images"].as_bool(),
            pdfs: value["pdfs"].as_bool(),
            tools: None,
            writes: None,
            price: Price::read(&value["price"]),
            cache_marks: None,
            retired: value["retired"].as_str().map(Into::into),
        }
    }
}
