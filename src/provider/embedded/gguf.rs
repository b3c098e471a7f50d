//! The header of a GGUF file: what the model is, and where its weights lie. Every count is checked against the length
//! of the file and against a limit of memory before anything is allocated for it.

use std::collections::HashMap;
use std::fs::File;
use std::io::{BufReader, Read};
#[cfg(feature = "embedded")]
use std::io::{Seek, SeekFrom};
use std::path::Path;

use crate::disk::{self, Links};
use crate::text::size;

/// A value of the metadata.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// A whole number of any width; a flag is 0 or 1.
    Number(u64),
    /// A number with a fraction.
    Float(f64),
    /// Text.
    Text(String),
    /// A list of texts.
    Texts(Vec<String>),
    /// A list of whole numbers.
    Numbers(Vec<u64>),
    /// A list of numbers with fractions.
    Floats(Vec<f32>),
    /// A list that is not kept: of lists, or passed over.
    Skipped,
}

/// The place of the weights of one tensor.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Weights {
    /// Its sizes, outermost first.
    pub dims: Vec<usize>,
    /// The number of its format.
    pub format: u32,
    /// Its offset in the file.
    pub at: u64,
    /// The number of bytes it takes.
    pub bytes: u64,
}

/// The part of a file before the weights.
#[derive(Debug, Default)]
pub struct Header {
    /// The metadata by key.
    pub metadata: HashMap<String, Value>,
    /// The tensors by name.
    pub tensors: HashMap<String, Weights>,
}

/// The families of models that can be run.
pub const FAMILIES: [&str; 3] = ["llama", "qwen2", "qwen3"];

/// The part of a header to read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extent {
    /// The metadata before the vocabulary: its name, family and sizes.
    Beginning,
    /// All of the metadata but the lists of its vocabulary.
    #[cfg(feature = "embedded")]
    Template,
    /// All of it.
    Whole,
}

/// Elements a block and bytes a block of each format of weights.
const FORMATS: [(u32, u64, u64); 13] = [
    (0, 1, 4),
    (1, 1, 2),
    (2, 32, 18),
    (3, 32, 20),
    (6, 32, 22),
    (7, 32, 24),
    (8, 32, 34),
    (10, 256, 84),
    (11, 256, 110),
    (12, 256, 144),
    (13, 256, 176),
    (14, 256, 210),
    (30, 1, 2),
];
/// The memory a header may take, in bytes. The largest vocabularies take a tenth of it.
const LARGEST: u64 = 256 << 20;
/// The memory of a key or a tensor beside its name, in bytes.
const ENTRY: u64 = 128;
/// The memory of a text beside its bytes.
const TEXT: u64 = 32;
/// The deepest nesting of lists.
const DEEPEST: u32 = 4;
/// The kind of a value that is a list.
const LIST: u32 = 9;
/// The kind of a value that is text.
const TEXT_KIND: u32 = 8;
/// The first key of the vocabulary begins so.
const VOCABULARY: &str = "tokenizer.";

impl Header {
    /// Reads the header of the file at `path`.
    ///
    /// # Errors
    /// Why it cannot be used, with the path.
    pub fn open(path: &Path, extent: Extent) -> Result<Header, String> {
        let read = || {
            let file = disk::open_file(path, Links::Follow).map_err(|why| format!("cannot be read: {why}"))?;
            let bytes = file.metadata().map_err(|why| format!("cannot be read: {why}"))?.len();
            Header::read(file, bytes, extent)
        };
        read().map_err(|why| format!("{} {why}", path.display()))
    }

    fn read(file: File, bytes: u64, extent: Extent) -> Result<Header, String> {
        let mut source = Source { reader: BufReader::with_capacity(1 << 16, file), at: 0, bytes, room: LARGEST };
        if source.take::<4>().ok() != Some(*b"GGUF") {
            return Err("is no GGUF file".into());
        }
        let version = source.u32()?;
        if !(2..=3).contains(&version) {
            return Err(format!("is written in version {version} of GGUF; versions 2 and 3 can be read"));
        }
        let (tensors, keys) = (source.u64()?, source.u64()?);
        let mut header = Header::default();
        for _ in 0..keys {
            source.charge(ENTRY)?;
            let key = source.text()?;
            let in_vocabulary = key.starts_with(VOCABULARY);
            if extent == Extent::Beginning && in_vocabulary {
                return Ok(header);
            }
            let kind = source.u32()?;
            let value = match kind {
                LIST if extent != Extent::Whole && in_vocabulary => source.pass_list()?,
                _ => source.value(kind, 0)?,
            };
            header.metadata.insert(key, value);
        }
        if extent == Extent::Whole {
            header.read_tensors(&mut source, tensors)?;
        }
        Ok(header)
    }

    fn read_tensors(&mut self, source: &mut Source, count: u64) -> Result<(), String> {
        for _ in 0..count {
            source.charge(ENTRY)?;
            let name = source.text()?;
            let rank = source.u32()?;
            if !(1..=4).contains(&rank) {
                return Err(format!("has a tensor {name} of {rank} dimensions, which no model has"));
            }
            let mut dims = Vec::new();
            for _ in 0..rank {
                dims.push(usize::try_from(source.u64()?).map_err(|_| too_large(&name))?);
            }
            if dims.contains(&0) {
                return Err(format!("has an empty tensor {name}"));
            }
            dims.reverse();
            let (format, at) = (source.u32()?, source.u64()?);
            let elements = dims.iter().try_fold(1_u64, |all, dim| all.checked_mul(*dim as u64));
            let elements = elements.ok_or_else(|| too_large(&name))?;
            let (_, block, size) = FORMATS
                .into_iter()
                .find(|known| known.0 == format)
                .ok_or_else(|| format!("stores {name} in format {format}, which cannot be read"))?;
            let inner = dims.last().copied().unwrap_or(1) as u64;
            if !inner.is_multiple_of(block) {
                return Err(format!("stores {name} in rows of {inner}, which format {format} cannot hold"));
            }
            let bytes = (elements / block).checked_mul(size).ok_or_else(|| too_large(&name))?;
            self.tensors.insert(name, Weights { dims, format, at, bytes });
        }
        let step = self.number("general.alignment").unwrap_or(32).max(1);
        let start = source.at.checked_next_multiple_of(step).ok_or("has an alignment that no file has")?;
        for (name, weights) in &mut self.tensors {
            weights.at = start.checked_add(weights.at).ok_or_else(|| too_large(name))?;
            let end = weights.at.checked_add(weights.bytes).ok_or_else(|| too_large(name))?;
            if end > source.bytes {
                let (has, needs) = (source.bytes, end);
                return Err(format!("is cut short: {name} ends at byte {needs}, and the file has {has}"));
            }
        }
        Ok(())
    }

    /// Returns the whole number of this key.
    pub fn number(&self, key: &str) -> Option<u64> {
        match self.metadata.get(key)? {
            Value::Number(number) => Some(*number),
            _ => None,
        }
    }

    /// Returns the number with a fraction of this key.
    #[cfg(feature = "embedded")]
    pub fn float(&self, key: &str) -> Option<f64> {
        match self.metadata.get(key)? {
            Value::Float(number) => Some(*number),
            Value::Number(number) => Some(*number as f64),
            _ => None,
        }
    }

    /// Returns the text of this key.
    pub fn text(&self, key: &str) -> Option<&str> {
        match self.metadata.get(key)? {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }

    /// Returns the list of texts of this key.
    #[cfg(feature = "embedded")]
    pub fn texts(&self, key: &str) -> Option<&[String]> {
        match self.metadata.get(key)? {
            Value::Texts(texts) => Some(texts),
            _ => None,
        }
    }

    /// Returns the family of the model: `llama`, `qwen2`.
    pub fn family(&self) -> &str {
        self.text("general.architecture").unwrap_or_default()
    }

    /// Returns a number of the model's own: `context_length`.
    #[cfg(feature = "embedded")]
    pub fn size(&self, name: &str) -> Option<u64> {
        self.number(&format!("{}.{name}", self.family()))
    }
}

fn too_large(name: &str) -> String {
    format!("says that {name} is larger than any file")
}

/// A file that is read from its beginning.
struct Source {
    reader: BufReader<File>,
    at: u64,
    bytes: u64,
    /// The memory that may still be taken, in bytes.
    room: u64,
}

impl Source {
    /// Reads this many bytes more.
    fn take<const N: usize>(&mut self) -> Result<[u8; N], String> {
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    fn fill(&mut self, bytes: &mut [u8]) -> Result<(), String> {
        self.reader.read_exact(bytes).map_err(|_| self.ended())?;
        self.at += bytes.len() as u64;
        Ok(())
    }

    fn ended(&self) -> String {
        format!("is cut short: its header ends at byte {}, in the middle of an entry", self.bytes)
    }

    /// Checks that this many bytes may follow.
    fn expect(&self, bytes: u64) -> Result<(), String> {
        if bytes > self.bytes.saturating_sub(self.at) { Err(self.ended()) } else { Ok(()) }
    }

    /// Takes memory for what is about to be read.
    fn charge(&mut self, bytes: u64) -> Result<(), String> {
        let left = self.room.checked_sub(bytes);
        self.room =
            left.ok_or_else(|| format!("has a header that takes more than {} of memory", size::words(LARGEST)))?;
        Ok(())
    }

    /// Passes over this many bytes.
    fn pass(&mut self, bytes: u64) -> Result<(), String> {
        self.expect(bytes)?;
        self.reader.seek_relative(bytes as i64).map_err(|_| self.ended())?;
        self.at += bytes;
        Ok(())
    }

    fn u32(&mut self) -> Result<u32, String> {
        Ok(u32::from_le_bytes(self.take()?))
    }

    fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    fn text(&mut self) -> Result<String, String> {
        let length = self.u64()?;
        self.expect(length)?;
        self.charge(length.saturating_add(TEXT))?;
        let mut bytes = vec![0; length as usize];
        self.fill(&mut bytes)?;
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn value(&mut self, kind: u32, depth: u32) -> Result<Value, String> {
        Ok(match kind {
            0 | 7 => Value::Number(u64::from(u8::from_le_bytes(self.take()?))),
            1 => Value::Number(i8::from_le_bytes(self.take()?) as u64),
            2 => Value::Number(u64::from(u16::from_le_bytes(self.take()?))),
            3 => Value::Number(i16::from_le_bytes(self.take()?) as u64),
            4 => Value::Number(u64::from(self.u32()?)),
            5 => Value::Number(i32::from_le_bytes(self.take()?) as u64),
            6 => Value::Float(f64::from(f32::from_le_bytes(self.take()?))),
            TEXT_KIND => Value::Text(self.text()?),
            LIST => self.list(depth)?,
            10 | 11 => Value::Number(self.u64()?),
            12 => Value::Float(f64::from_le_bytes(self.take()?)),
            other => return Err(format!("holds a value of kind {other}, which GGUF has not")),
        })
    }

    fn list(&mut self, depth: u32) -> Result<Value, String> {
        let (kind, count) = (self.u32()?, self.u64()?);
        // Each element takes a byte at least, and eight of memory.
        self.expect(count)?;
        self.charge(count.saturating_mul(8))?;
        if depth > DEEPEST {
            return Err("holds lists in lists in its header, deeper than any model needs".into());
        }
        let mut list = match kind {
            TEXT_KIND => Value::Texts(Vec::new()),
            6 | 12 => Value::Floats(Vec::new()),
            LIST => Value::Skipped,
            _ => Value::Numbers(Vec::new()),
        };
        for _ in 0..count {
            match (&mut list, self.value(kind, depth + 1)?) {
                (Value::Texts(texts), Value::Text(text)) => texts.push(text),
                (Value::Floats(floats), Value::Float(float)) => floats.push(float as f32),
                (Value::Numbers(numbers), Value::Number(number)) => numbers.push(number),
                _ => {}
            }
        }
        Ok(list)
    }

    /// Passes over a list without keeping it.
    fn pass_list(&mut self) -> Result<Value, String> {
        let (kind, count) = (self.u32()?, self.u64()?);
        self.expect(count)?;
        // It takes no memory; a list that could not be kept is no vocabulary either.
        self.charge(count.saturating_mul(8))?;
        let width = match kind {
            0 | 1 | 7 => 1,
            2 | 3 => 2,
            4..=6 => 4,
            10..=12 => 8,
            TEXT_KIND => {
                for _ in 0..count {
                    let length = self.u64()?;
                    self.pass(length)?;
                }
                return Ok(Value::Skipped);
            }
            other => return Err(format!("holds a list of kind {other} in its vocabulary")),
        };
        self.pass(count.saturating_mul(width))?;
        Ok(Value::Skipped)
    }
}

/// Reads the bytes of a tensor.
///
/// # Errors
/// When the file does not hold them any more.
#[cfg(feature = "embedded")]
pub fn read_weights(file: &mut File, weights: &Weights) -> Result<Vec<u8>, String> {
    let size = usize::try_from(weights.bytes).map_err(|_| "is too large for this computer".to_string())?;
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(size).map_err(|_| "is too large for the memory there is".to_string())?;
    let read = file.seek(SeekFrom::Start(weights.at)).and_then(|_| file.take(weights.bytes).read_to_end(&mut bytes));
    match read {
        Ok(read) if read == size => Ok(bytes),
        Ok(_) => Err("became shorter while it was read".into()),
        Err(why) => Err(format!("cannot be read: {why}")),
    }
}
