//! Several toolboxes as one.

use serde_json::{Map, Value};

use super::toolbox::{Client, Contents, ResourcePage, ServedAnswer, ServedTool, Toolbox};

/// Toolboxes that one server offers together. No two of them have a tool or an address in common.
pub struct Joined {
    name: &'static str,
    parts: Vec<Box<dyn Toolbox>>,
}

impl Joined {
    /// Joins toolboxes under a name.
    pub fn new(name: &'static str, parts: Vec<Box<dyn Toolbox>>) -> Joined {
        Joined { name, parts }
    }
}

impl Toolbox for Joined {
    fn name(&self) -> &'static str {
        self.name
    }

    fn instructions(&self) -> String {
        self.parts.iter().map(|part| part.instructions()).collect::<Vec<_>>().join("\n\n")
    }

    fn tools(&self) -> Vec<ServedTool> {
        self.parts.iter().flat_map(|part| part.tools()).collect()
    }

    fn call(&mut self, name: &str, arguments: Map<String, Value>, client: &Client) -> Option<ServedAnswer> {
        let has = |part: &&mut Box<dyn Toolbox>| part.tools().iter().any(|tool| tool.name == name);
        self.parts.iter_mut().find(has)?.call(name, arguments, client)
    }

    fn answered(&mut self, ticket: &str, yes: bool) -> Option<ServedAnswer> {
        self.parts.iter_mut().find_map(|part| part.answered(ticket, yes))
    }

    fn templates(&self) -> Vec<(&'static str, &'static str)> {
        self.parts.iter().flat_map(|part| part.templates()).collect()
    }

    /// Lists one part after the other: a cursor begins with the number of its part.
    fn resources(&mut self, cursor: Option<&str>) -> Result<ResourcePage, String> {
        let parsed = |cursor: &str| {
            let (part, rest) = cursor.split_once(':')?;
            Some((part.parse::<usize>().ok()?, Some(rest.to_owned()).filter(|rest| !rest.is_empty())))
        };
        let (at, inner) = match cursor {
            None => (0, None),
            Some(cursor) => parsed(cursor).ok_or_else(|| format!("{cursor} is no cursor of this list"))?,
        };
        let Some(part) = self.parts.get_mut(at) else { return Err(format!("{at}: is no cursor of this list")) };
        let mut listing = part.resources(inner.as_deref())?;
        // A part without templates has no resources.
        let has_any = |at: &usize| !self.parts[*at].templates().is_empty();
        let following = (at + 1..self.parts.len()).find(has_any).map(|at| format!("{at}:"));
        listing.next = listing.next.map(|next| format!("{at}:{next}")).or(following);
        Ok(listing)
    }

    fn read(&mut self, address: &str) -> Option<Contents> {
        self.parts.iter_mut().find_map(|part| part.read(address))
    }

    fn close(self: Box<Self>) {
        self.parts.into_iter().for_each(Toolbox::close);
    }
}
