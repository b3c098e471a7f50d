//! Archives: older parts of the log, packed with Zstandard. The only file that names `zstd`.
//!
//! An archive is a log like any other once it is unpacked. It is packed in pieces of whole lines, one after the other,
//! so that one op is read without the rest.

pub mod base;
mod compact;

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::{BufReader, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use super::{Error, disk};
use crate::strand::lazy::{ArchiveReader, At};
use crate::strand::op::Op;
use crate::text::size;
pub use compact::{Before, Compacted};

/// About how many bytes of text a piece holds: it is unpacked whole to read one line of it.
const PIECE: usize = 128 << 10;
/// The compression level: archives are written once.
const LEVEL: i32 = 12;
/// The most bytes that a piece unpacks to: one definition at most, and what stands beside it.
const LARGEST_PIECE: u64 = 256 << 20;
/// The most times that an archive may become larger: one that a clone or a remote brought may be packed to fill the memory.
/// Logs become ten to thirty times larger.
const MOST_TIMES: u64 = 200;
/// The number of unpacked pieces cached.
const HELD: usize = 8;

/// Returns the file of an archive.
pub fn file_name(number: u32) -> String {
    format!("op-log-{number}.jsonl.zst")
}

/// Returns the folder of the archives of a log.
pub fn folder(log: &Path) -> PathBuf {
    log.with_file_name("archive")
}

/// A text as an archive has it.
pub struct Packed {
    /// The file's bytes.
    pub bytes: Vec<u8>,
    /// The offset of each piece in the text, and in the file.
    pieces: Vec<(usize, u64)>,
}

impl Packed {
    /// Packs a header of its own, if there is one, and a text of whole lines.
    pub fn new(header: Option<&str>, text: &[u8]) -> std::io::Result<Packed> {
        let mut packer = zstd::bulk::Compressor::new(LEVEL)?;
        packer.include_checksum(true)?;
        let mut bytes = match header {
            Some(header) => packer.compress(format!("{header}\n").as_bytes())?,
            None => Vec::new(),
        };
        let (mut pieces, mut start) = (Vec::new(), 0);
        while start < text.len() {
            let wanted = (start + PIECE).min(text.len());
            // A piece ends where a line does.
            let end = text[wanted - 1..].iter().position(|byte| *byte == b'\n').map_or(text.len(), |at| wanted + at);
            pieces.push((start, bytes.len() as u64));
            bytes.extend(packer.compress(&text[start..end])?);
            start = end;
        }
        Ok(Packed { bytes, pieces })
    }

    /// Returns where a line of the text stands in the archive of a number.
    pub fn at(&self, archive: u32, start: usize, length: u32) -> At {
        let piece = self.pieces.partition_point(|(begins, _)| *begins <= start).saturating_sub(1);
        let (begins, place) = self.pieces.get(piece).copied().unwrap_or_default();
        At { archive, piece: place, start: (start - begins) as u32, length }
    }
}

/// One unpacked piece: the number of its archive, its offset there, and its text.
type Piece = (u32, u64, Rc<Vec<u8>>);

/// The archives of a store, opened at first use.
#[derive(Debug)]
pub struct Archives {
    folder: PathBuf,
    held: RefCell<VecDeque<Piece>>,
    failure: RefCell<Option<String>>,
}

impl Archives {
    /// Returns the archives of a log.
    pub fn of(log: &Path) -> Archives {
        Archives { folder: folder(log), held: RefCell::default(), failure: RefCell::default() }
    }

    /// Returns why an op could not be read, if one could not: then answers without it do not count.
    pub fn failure(&self) -> Option<String> {
        self.failure.borrow().clone()
    }

    /// Writes an archive. A reader sees it whole or not at all, after a crash too.
    pub fn write(&self, number: u32, packed: &Packed) -> Result<PathBuf, Error> {
        let path = self.folder.join(file_name(number));
        let written = disk::create_folder(&self.folder)
            .and_then(|()| disk::flush_folder(&self.folder))
            .and_then(|()| disk::replace(&path, &packed.bytes));
        written.map_err(|error| Error::io("write", &path, error))?;
        Ok(path)
    }

    /// Returns the whole text of an archive.
    pub fn text(&self, number: u32) -> Result<Vec<u8>, Error> {
        let path = self.folder.join(file_name(number));
        let unpacked = disk::open(&path).and_then(|file| {
            let most = file.metadata()?.len().saturating_mul(MOST_TIMES).max(LARGEST_PIECE);
            read_within(zstd::stream::read::Decoder::new(file)?, most)
        });
        unpacked.map_err(|error| Error::Archive(unreadable(&path, &error.to_string())))
    }

    fn piece(&self, at: At) -> std::io::Result<Rc<Vec<u8>>> {
        let mut held = self.held.borrow_mut();
        if let Some((_, _, text)) = held.iter().find(|(archive, piece, _)| (*archive, *piece) == (at.archive, at.piece))
        {
            return Ok(text.clone());
        }
        let mut file = disk::open(&self.folder.join(file_name(at.archive)))?;
        file.seek(SeekFrom::Start(at.piece))?;
        let decoder = zstd::stream::read::Decoder::with_buffer(BufReader::new(file))?.single_frame();
        let text = Rc::new(read_within(decoder, LARGEST_PIECE)?);
        held.push_front((at.archive, at.piece, text.clone()));
        held.truncate(HELD);
        Ok(text)
    }

    fn line(&self, at: At) -> Result<Op, String> {
        let text = self.piece(at).map_err(|error| error.to_string())?;
        let line = text.get(at.start as usize..).and_then(|rest| rest.get(..at.length as usize));
        let line = line.ok_or("it is shorter than it was")?;
        let value = serde_json::from_slice(line).map_err(|error| error.to_string())?;
        base::read_op(&value).map(|(op, _)| op)
    }
}

impl ArchiveReader for Archives {
    fn op(&self, at: At) -> Option<Op> {
        let unreadable_archive = |message: String| unreadable(&self.folder.join(file_name(at.archive)), &message);
        self.line(at).map_err(|message| *self.failure.borrow_mut() = Some(unreadable_archive(message))).ok()
    }
}

/// Reads all, unless that is more than `most` bytes.
fn read_within(text: impl Read, most: u64) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    text.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    match bytes.len() as u64 > most {
        true => Err(std::io::Error::other(format!("it unpacks to more than {}, as no log does", size::words(most)))),
        false => Ok(bytes),
    }
}

fn unreadable(path: &Path, why: &str) -> String {
    format!(
        "cannot read {}: {why}; older ops stand there, so put the file back and run the command again",
        path.display()
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_read_whole_and_line_by_line() {
        let lines: Vec<String> =
            (0..9_000).map(|n| format!("{{\"line\":{n},\"text\":\"{}\"}}", "ab".repeat(n % 40))).collect();
        let text = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
        let dir = tempfile::tempdir().unwrap();
        for (number, header) in [(1, None), (2, Some("{\"strand\":1}"))] {
            let packed = Packed::new(header, text.as_bytes()).unwrap();
            assert!(packed.pieces.len() > 3 && packed.bytes.len() < text.len() / 4);
            let archives = Archives::of(&dir.path().join("op-log.jsonl"));
            archives.write(number, &packed).unwrap();
            let head = header.map_or(String::new(), |header| format!("{header}\n"));
            assert_eq!(String::from_utf8(archives.text(number).unwrap()).unwrap(), format!("{head}{text}"));
            let mut start = 0;
            for line in &lines {
                let at = packed.at(number, start, line.len() as u32);
                let piece = archives.piece(at).unwrap();
                assert_eq!(&piece[at.start as usize..][..at.length as usize], line.as_bytes());
                start += line.len() + 1;
            }
        }
    }

    #[test]
    fn an_archive_that_is_packed_to_fill_the_memory_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let archives = Archives::of(&dir.path().join("op-log.jsonl"));
        let zeros = std::io::repeat(b'0').take(LARGEST_PIECE + 10);
        let bytes = zstd::stream::encode_all(zeros, 1).unwrap();
        assert!(bytes.len() < 1 << 20);
        archives.write(1, &Packed { bytes, pieces: Vec::new() }).unwrap();
        assert!(archives.text(1).unwrap_err().to_string().contains("unpacks to more than 256 MiB"));
        assert_eq!(archives.op(At { archive: 1, piece: 0, start: 0, length: 5 }), None);
        assert!(archives.failure().unwrap().contains("unpacks to more than"));
    }

    #[test]
    fn an_archive_that_is_gone_or_damaged_is_reported_by_its_name() {
        let dir = tempfile::tempdir().unwrap();
        let archives = Archives::of(&dir.path().join("op-log.jsonl"));
        let at = At { archive: 3, piece: 0, start: 0, length: 5 };
        assert_eq!(archives.op(at), None);
        assert!(archives.failure().unwrap().contains("op-log-3.jsonl.zst"));
        let mut packed = Packed::new(None, b"{\"op\":1}\n{\"op\":2}\n").unwrap();
        let last = packed.bytes.len() - 1;
        packed.bytes[last] ^= 1;
        archives.write(3, &packed).unwrap();
        assert_eq!(archives.text(3).unwrap_err().kind(), "archive");
    }
}
