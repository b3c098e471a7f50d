//! From words to passages. Any of the words may match; the rarer a word, the more it counts (BM25). Words that stand in
//! a great many passages are left out while there are others, which also keeps a query quick over any number of files.

use std::collections::{HashMap, HashSet};

use rusqlite::{Connection, ToSql, params_from_iter};

use crate::memory::search::tokens;
use crate::memory::{Error, count};

/// Passages a query looks at, in all.
const MOST: usize = 40_000;
/// Passages beyond which a single word is too common to be of use.
const COMMON: usize = 20_000;

/// The number of best passages of all projects that are looked up before all are.
const FIRST: usize = 200;

/// English words that say nothing about a passage.
const STOP: &[&str] = &[
    "a", "an", "and", "are", "as", "at", "be", "by", "can", "do", "does", "for", "from", "has", "have", "how", "i",
    "if", "in", "is", "it", "its", "me", "my", "of", "on", "or", "should", "show", "so", "that", "the", "their",
    "there", "these", "this", "to", "us", "was", "we", "what", "when", "where", "which", "who", "why", "will", "with",
    "would", "you",
];

/// A passage that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The path of its source.
    pub source: String,
    /// The file, relative to the source; empty where the source is the file itself.
    pub path: String,
    /// Its lines, from 1, both included.
    pub lines: (usize, usize),
    /// The file as it was when it was indexed: when it was last changed, in nanoseconds.
    pub mtime_ns: i64,
    /// And its size in bytes.
    pub size: u64,
}

/// One word as a query, and how many passages hold it.
struct Word {
    query: String,
    held: usize,
}

pub(super) fn run(conn: &Connection, project: &str, words: &str, limit: usize) -> Result<Vec<Found>, Error> {
    let mut found = Vec::new();
    let (mut known, mut unknown) = (Vec::new(), Vec::new());
    for word in tokens::single_words(words).into_iter().filter(|w| !STOP.contains(&w.to_lowercase().as_str())) {
        let query = tokens::single_query(&word);
        match held(conn, &query)? {
            0 => unknown.push(word),
            held => known.push(Word { query, held }),
        }
    }
    let mut best = HashSet::new();
    known.sort_by_key(|w| w.held);
    if let Some(query) = worth_asking(&known) {
        found.extend(search(conn, Index::Words, &query, project, limit, &mut best)?);
    } else if let Some(rarest) = known.first() {
        // All are common: passages that hold them all, or any that hold the rarest; too many to be ranked.
        let all: Vec<&str> = known.iter().map(|w| w.query.as_str()).collect();
        let all = all.join(" AND ");
        let index = if held(conn, &all)? <= COMMON { Index::Words } else { Index::Unranked };
        found.extend(search(conn, index, &all, project, limit, &mut best)?);
        if found.is_empty() {
            found.extend(search(conn, Index::Unranked, &rarest.query, project, limit, &mut best)?);
        }
    }
    // A word without matches may be part of one.
    let parts: Vec<String> = unknown.iter().filter_map(|w| tokens::trigrams(w)).collect();
    if !parts.is_empty() && found.len() < limit {
        let rest = limit - found.len();
        found.extend(search(conn, Index::Grams, &parts.join(" OR "), project, rest, &mut best)?);
    }
    Ok(found)
}

/// Returns how many passages hold a word, counted no further than it matters.
fn held(conn: &Connection, query: &str) -> Result<usize, Error> {
    let sql = "SELECT count(*) FROM (SELECT 1 FROM words WHERE words MATCH ?1 LIMIT ?2)";
    let n: i64 = conn.prepare_cached(sql)?.query_row((query, COMMON as i64 + 1), |row| row.get(0))?;
    Ok(usize::try_from(n).unwrap_or(0))
}

/// Returns the words worth asking for, of a list that begins with the rarest: together no more than can be looked at.
fn worth_asking(words: &[Word]) -> Option<String> {
    let mut sum = 0;
    let taken = words.iter().take_while(|w| {
        sum += w.held;
        w.held <= COMMON && sum <= MOST
    });
    let taken: Vec<&str> = taken.map(|w| w.query.as_str()).collect();
    (!taken.is_empty()).then(|| taken.join(" OR "))
}

/// The index a query looks in, and whether what it finds is ranked.
#[derive(Clone, Copy)]
enum Index {
    Words,
    Unranked,
    /// The trigram index keeps no frequencies: all that match are equal.
    Grams,
}

fn search(
    conn: &Connection,
    index: Index,
    query: &str,
    project: &str,
    limit: usize,
    taken: &mut HashSet<i64>,
) -> Result<Vec<Found>, Error> {
    let mut sources: HashMap<i64, String> = HashMap::new();
    let mut statement = conn.prepare_cached("SELECT id, path FROM sources WHERE project_path = ?1")?;
    let mut rows = statement.query([project])?;
    while let Some(row) = rows.next()? {
        sources.insert(row.get(0)?, row.get(1)?);
    }
    if sources.is_empty() {
        return Ok(Vec::new());
    }
    let wanted = limit + taken.len();
    let mut rows = matching(conn, index, query, &sources, (wanted, Some(FIRST + wanted)))?;
    // The best may all be those of other projects: then all that match are looked up.
    if rows.len() < wanted && matches!(index, Index::Words) {
        rows = matching(conn, index, query, &sources, (wanted, None))?;
    }
    let mut file_of = conn.prepare_cached("SELECT path, mtime_ns, size FROM files WHERE id = ?1")?;
    let mut found = Vec::new();
    for [id, source, file, first, last] in rows {
        if found.len() < limit && taken.insert(id) {
            let line = |n: i64| usize::try_from(n).unwrap_or(1);
            let (path, mtime_ns, size) = file_of.query_row([file], |r| Ok((r.get(0)?, r.get(1)?, count(r.get(2)?))))?;
            found.push(Found {
                source: sources.get(&source).cloned().unwrap_or_default(),
                path,
                lines: (line(first), line(last)),
                mtime_ns,
                size,
            });
        }
    }
    Ok(found)
}

/// Returns the passages of these sources, best first, at most `most`: their id, source, file, first and last line. Of a
/// ranked index only the best `first` of all sources are looked up, if that is given: looking up each that matches
/// costs more than ranking them all.
fn matching(
    conn: &Connection,
    index: Index,
    query: &str,
    sources: &HashMap<i64, String>,
    (most, first): (usize, Option<usize>),
) -> Result<Vec<[i64; 5]>, Error> {
    let (matches, order) = match (index, first) {
        (Index::Words, Some(n)) => {
            (format!("SELECT rowid, rank FROM words WHERE words MATCH ? ORDER BY rank LIMIT {n}"), "ORDER BY f.rank")
        }
        (Index::Words, None) => ("SELECT rowid, rank FROM words WHERE words MATCH ?".into(), "ORDER BY f.rank"),
        (Index::Unranked, _) => ("SELECT rowid FROM words WHERE words MATCH ?".into(), ""),
        (Index::Grams, _) => ("SELECT rowid FROM grams WHERE grams MATCH ?".into(), ""),
    };
    let marks = vec!["?"; sources.len()].join(", ");
    let sql = format!(
        "SELECT p.id, p.source, p.file, p.first, p.last FROM ({matches}) f JOIN passages p ON p.id = f.rowid
         WHERE p.source IN ({marks}) {order} LIMIT ?"
    );
    let mut values: Vec<Box<dyn ToSql>> = vec![Box::new(query.to_string())];
    values.extend(sources.keys().map(|id| Box::new(*id) as Box<dyn ToSql>));
    values.push(Box::new(i64::try_from(most).unwrap_or(i64::MAX)));
    let mut statement = conn.prepare_cached(&sql)?;
    let row = |r: &rusqlite::Row<'_>| Ok([r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?, r.get(4)?]);
    let rows = statement.query_map(params_from_iter(values), row)?;
    Ok(rows.collect::<Result<_, _>>()?)
}
