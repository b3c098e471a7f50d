//! The places of the ops that make the body of a definition, kept in its row: these are read whenever an op follows
//! them, and a row of its own for each would have to be found first.

use super::pack;
use crate::strand::id::OpId;
use crate::strand::lazy::Role;
use crate::strand::store::position::LogPosition;

/// The place of an op that has an effect, with the greatest `ts` among it and its ancestors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spot {
    pub place: LogPosition,
    pub max_ts: i64,
}

/// The length of a packed spot.
const SIZE: usize = 28;

/// Returns which ops of a line make the body: the last body, and the edits that count.
fn making<'l>(ops: &'l [OpId], roles: &'l [Role]) -> impl Iterator<Item = OpId> + 'l {
    let body = roles.iter().rposition(|role| *role == Role::Body);
    let makes = move |(at, role): &(usize, &Role)| **role == Role::Edit || Some(*at) == body;
    roles.iter().enumerate().filter(makes).filter_map(|(at, _)| ops.get(at).copied())
}

/// Returns the spots of the ops that make a body, packed; nothing where one is not known.
pub fn pack(ops: &[OpId], roles: &[Role], find: impl Fn(OpId) -> Option<Spot>) -> Vec<u8> {
    let spots: Option<Vec<Spot>> = making(ops, roles).map(find).collect();
    let mut out = Vec::new();
    for Spot { place, max_ts } in spots.into_iter().flatten() {
        out.extend_from_slice(&place.offset.to_le_bytes());
        out.extend_from_slice(&place.length.to_le_bytes());
        out.extend_from_slice(&place.sum.to_le_bytes());
        out.extend_from_slice(&max_ts.to_le_bytes());
    }
    out
}

fn spot(bytes: &[u8; SIZE]) -> Option<Spot> {
    let (offset, rest) = bytes.split_first_chunk()?;
    let (length, rest) = rest.split_first_chunk()?;
    let (sum, rest) = rest.split_first_chunk()?;
    let place = LogPosition {
        offset: u64::from_le_bytes(*offset),
        length: u32::from_le_bytes(*length),
        sum: i64::from_le_bytes(*sum),
    };
    Some(Spot { place, max_ts: i64::from_le_bytes(rest.try_into().ok()?) })
}

/// Returns the ops of a row whose spots it has.
pub fn read(ops: &[OpId], line: &[u8]) -> Vec<(OpId, Spot)> {
    let Some(line) = pack::read_line(line) else { return Vec::new() };
    let (spots, _) = line.spots.as_chunks::<SIZE>();
    making(ops, &line.roles).zip(spots).filter_map(|(id, bytes)| Some((id, spot(bytes)?))).collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::strand::id::QName;
    use crate::strand::issue::{Draft, Issuer, Removal};
    use crate::strand::lazy::LazySource;
    use crate::strand::state::Visibility;
    use crate::strand::store::checkpoint::{Opened, Source};
    use crate::strand::store::{Log, Store};

    fn draft(chance: &mut impl FnMut(u64) -> u64, n: u64) -> Draft {
        let name = |at: u64| QName::parse(&format!("reducer.r{at}")).unwrap();
        let qname = name(chance(9));
        match chance(9) {
            0..=2 => Draft::Add { qname, body: "do= s := 1".into(), doc: None, def: None },
            3 | 4 => Draft::Edit { qname, patch: serde_json::json!({"body:1": format!("set s := {n}")}) },
            5 => Draft::Edit { qname, patch: serde_json::json!({"body:1": format!("append s := {n}")}) },
            6 => Draft::Replace { qname, body: format!("do= s := {n}"), doc: None },
            7 => Draft::Rename { qname, to: format!("r{}", chance(8)) },
            _ => Draft::Remove { qname, how: Removal::Refuse },
        }
    }

    /// Compares what the rows of definitions say of ops and names with what the rows of ops, and all rows, say.
    /// Returns how many ops and how many rivals it met.
    fn compare(root: &Path, seed: u64) -> (usize, usize) {
        let Opened::Ready(source) = Source::open(root, &Log::new(root.join(".strand/op-log.jsonl"))) else {
            panic!("no checkpoint, history {seed}")
        };
        let rows = source.all_rows();
        let live = |visibility: Visibility| visibility != Visibility::Dead;
        for row in &rows {
            let claims = rows.iter().filter(|other| live(other.head.status) && other.head.name == row.head.name);
            assert_eq!(row.alone, live(row.head.status) && claims.count() == 1, "{:?}, history {seed}", row.head);
            assert!(source.ops_on(row.head.id).is_some());
            assert_eq!(source.row(row.head.id).as_ref(), Some(row));
        }
        let spots: Vec<(OpId, Spot)> = source.spots.borrow().iter().map(|(id, spot)| (*id, *spot)).collect();
        for (id, spot) in &spots {
            assert_eq!(source.place_of(*id), Some(spot.place), "history {seed}");
            let by_spot = source.op(*id).unwrap();
            let by_row = source.op(*id).unwrap();
            assert_eq!(format!("{by_spot:?}"), format!("{by_row:?}"), "history {seed}");
        }
        assert_eq!(source.failure(), None);
        let rivals = rows.iter().filter(|row| live(row.head.status) && !row.alone);
        (spots.len(), rivals.count())
    }

    #[test]
    fn rows_of_definitions_say_the_same_of_ops_and_names_as_all_rows() {
        let mut found = (0, 0);
        for seed in 0..16 {
            let mut chance = crate::strand::numbers(seed);
            let (dir, other_dir) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
            let mut store = Store::init(dir.path()).unwrap();
            let mut other = Store::init(other_dir.path()).unwrap();
            for n in 0..60 {
                // A draft that does not fit is refused, and changes nothing.
                let _ = store.issue(&[draft(&mut chance, n)], &Issuer::new("user:me"), false);
                match chance(8) {
                    0 => {
                        for _ in 0..4 {
                            let _ = other.issue(&[draft(&mut chance, n)], &Issuer::new("user:them"), false);
                        }
                        store.accept(other.ops()).unwrap();
                    }
                    1 => drop(other.accept(store.ops()).unwrap()),
                    2 => store.checkpoint(),
                    3 => {
                        store.checkpoint();
                        store = Store::open(dir.path()).unwrap();
                        let (spots, rivals) = compare(dir.path(), seed);
                        found = (found.0 + spots, found.1 + rivals);
                    }
                    _ => {}
                }
            }
        }
        assert!(found.0 > 100 && found.1 > 20, "{found:?}");
    }
}
