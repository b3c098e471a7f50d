//! Checksums of rows: a row that was altered on the disk is an error, not an answer.

use std::hash::Hasher;
use std::ops::Range;

use rusqlite::Row;
use rusqlite::types::{Value, ValueRef};

use crate::strand::lazy::IdHasher;

/// Returns a number for some bytes. It tells damage, not malice.
pub fn of_bytes(bytes: &[u8]) -> i64 {
    let mut hasher = IdHasher::default();
    hasher.write(bytes);
    hasher.finish() as i64
}

fn take(hasher: &mut IdHasher, value: ValueRef) {
    match value {
        ValueRef::Null => hasher.write_u8(0),
        ValueRef::Integer(number) => hasher.write_u64(number as u64),
        ValueRef::Real(number) => hasher.write_u64(number.to_bits()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => hasher.write(bytes),
    }
}

/// Returns the sum of a row.
pub fn of_row<'v>(row: impl Iterator<Item = ValueRef<'v>>) -> i64 {
    let mut hasher = IdHasher::default();
    row.for_each(|value| take(&mut hasher, value));
    hasher.finish() as i64
}

/// Returns the sum of keys with their values.
pub fn of_meta<'v>(pairs: impl Iterator<Item = (&'v str, &'v Value)>) -> i64 {
    let mut sorted: Vec<(&str, &Value)> = pairs.collect();
    sorted.sort_unstable_by_key(|(key, _)| *key);
    let mut hasher = IdHasher::default();
    for (key, value) in sorted {
        hasher.write(key.as_bytes());
        take(&mut hasher, value.into());
    }
    hasher.finish() as i64
}

/// Makes sure that a row, its last column the sum of the others, is what was written.
///
/// # Errors
/// When it is not.
pub fn holds(row: &Row) -> rusqlite::Result<()> {
    holds_in(row, 0..row.as_ref().column_count())
}

/// Makes sure of the columns of one table in a row of two.
///
/// # Errors
/// When they are not what was written.
pub fn holds_in(row: &Row, columns: Range<usize>) -> rusqlite::Result<()> {
    let last = columns.end - 1;
    let mut hasher = IdHasher::default();
    for at in columns.start..last {
        take(&mut hasher, row.get_ref(at)?);
    }
    if row.get::<_, i64>(last)? == hasher.finish() as i64 {
        return Ok(());
    }
    Err(rusqlite::Error::FromSqlConversionFailure(
        last,
        rusqlite::types::Type::Integer,
        "the sum of a row does not hold".into(),
    ))
}
