//! Writes small GGUF files for tests.

/// A GGUF file under construction.
#[derive(Default)]
pub struct Gguf {
    keys: u64,
    metadata: Vec<u8>,
    tensors: Vec<(String, Vec<u64>, u32, Vec<u8>)>,
}

fn text(bytes: &mut Vec<u8>, text: &str) {
    bytes.extend((text.len() as u64).to_le_bytes());
    bytes.extend(text.as_bytes());
}

impl Gguf {
    fn key(&mut self, key: &str, kind: u32) -> &mut Vec<u8> {
        self.keys += 1;
        text(&mut self.metadata, key);
        self.metadata.extend(kind.to_le_bytes());
        &mut self.metadata
    }

    /// Adds a text.
    pub fn text(mut self, key: &str, value: &str) -> Self {
        text(self.key(key, 8), value);
        self
    }

    /// Adds a whole number.
    pub fn number(mut self, key: &str, value: u32) -> Self {
        self.key(key, 4).extend(value.to_le_bytes());
        self
    }

    /// Adds a list of texts.
    #[cfg(feature = "embedded")]
    pub fn texts(mut self, key: &str, values: &[String]) -> Self {
        let bytes = self.key(key, 9);
        bytes.extend(8_u32.to_le_bytes());
        bytes.extend((values.len() as u64).to_le_bytes());
        values.iter().for_each(|value| text(bytes, value));
        self
    }

    /// Adds a tensor: its sizes outermost first, the number of its format, its bytes.
    #[cfg(feature = "embedded")]
    pub fn tensor(mut self, name: &str, dims: &[usize], format: u32, bytes: Vec<u8>) -> Self {
        self.tensors.push((name.into(), dims.iter().rev().map(|dim| *dim as u64).collect(), format, bytes));
        self
    }

    /// Takes a tensor away.
    #[cfg(feature = "embedded")]
    pub fn without(mut self, name: &str) -> Self {
        self.tensors.retain(|(other, ..)| other != name);
        self
    }

    /// The bytes of the file with the head of a list after them.
    #[cfg(feature = "embedded")]
    pub fn list(mut self, key: &str, kind: u32, count: u64) -> Vec<u8> {
        let bytes = self.key(key, 9);
        bytes.extend(kind.to_le_bytes());
        bytes.extend(count.to_le_bytes());
        self.bytes()
    }

    /// The bytes of the file.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = b"GGUF".to_vec();
        bytes.extend(3_u32.to_le_bytes());
        bytes.extend((self.tensors.len() as u64).to_le_bytes());
        bytes.extend(self.keys.to_le_bytes());
        bytes.extend(&self.metadata);
        let mut at = 0_u64;
        for (name, dims, format, weights) in &self.tensors {
            text(&mut bytes, name);
            bytes.extend((dims.len() as u32).to_le_bytes());
            dims.iter().for_each(|dim| bytes.extend(dim.to_le_bytes()));
            bytes.extend(format.to_le_bytes());
            bytes.extend(at.to_le_bytes());
            at += weights.len().next_multiple_of(32) as u64;
        }
        for (.., weights) in &self.tensors {
            bytes.resize(bytes.len().next_multiple_of(32), 0);
            bytes.extend(weights);
        }
        bytes
    }
}

/// The header of a model of `family` without weights.
pub fn header_of(family: &str) -> Vec<u8> {
    let header = Gguf::default().text("general.architecture", family);
    header.number(&format!("{family}.context_length"), 4_096).bytes()
}
