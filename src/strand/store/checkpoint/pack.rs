//! Packs identities and names into the bytes of a row.

use std::collections::BTreeSet;

use crate::strand::id::{DefId, Layer, OpId};
use crate::strand::lang::place::{HEADERS, Place};
use crate::strand::lazy::{Line, Name, Role};
use crate::strand::state::Watch;

/// Identities one after the other.
pub fn ids(ids: impl IntoIterator<Item = OpId>) -> Vec<u8> {
    let ids = ids.into_iter();
    let mut out = Vec::with_capacity(16 * ids.size_hint().0);
    ids.for_each(|id| out.extend_from_slice(&id.to_bytes()));
    out
}

/// Returns one identity; none if the bytes are not sixteen.
pub fn one(bytes: &[u8]) -> Option<OpId> {
    bytes.try_into().ok().map(OpId::from_bytes)
}

/// Returns the identities of [`ids`].
pub fn read_ids(bytes: &[u8]) -> Vec<OpId> {
    bytes.chunks_exact(16).filter_map(one).collect()
}

/// Returns a layer and a name.
pub fn name(layer: Layer, name: &str) -> Vec<u8> {
    let mut out = vec![layer as u8];
    out.extend_from_slice(name.as_bytes());
    out
}

/// Returns the layer and name of [`name`].
pub fn read_name(bytes: &[u8]) -> Option<Name> {
    let (layer, name) = bytes.split_first()?;
    Some((*Layer::ALL.get(usize::from(*layer))?, String::from_utf8(name.to_vec()).ok()?))
}

fn put_ids(out: &mut Vec<u8>, list: impl ExactSizeIterator<Item = OpId>) {
    out.extend_from_slice(&(list.len() as u32).to_le_bytes());
    list.for_each(|id| out.extend_from_slice(&id.to_bytes()));
}

/// Returns the links of a line, the roles of its ops, and the packed spots of some of them.
pub fn line(line: &Line, spots: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(8 + 16 * line.links.len() + line.roles.len() + spots.len());
    put_ids(&mut out, line.links.iter().copied());
    out.extend_from_slice(&(line.roles.len() as u32).to_le_bytes());
    out.extend(line.roles.iter().map(|role| *role as u8));
    out.extend_from_slice(spots);
    out
}

/// The parts of a packed line.
pub struct PackedLine<'b> {
    pub links: Vec<DefId>,
    pub roles: Vec<Role>,
    pub spots: &'b [u8],
}

/// Returns the parts of [`line`].
pub fn read_line(mut bytes: &[u8]) -> Option<PackedLine<'_>> {
    let links = read_ids(take(&mut bytes, 16)?);
    let roles = take(&mut bytes, 1)?.iter().map(|byte| Role::ALL.get(usize::from(*byte)).copied());
    Some(PackedLine { links, roles: roles.collect::<Option<_>>()?, spots: bytes })
}

/// Places, a number each.
pub fn places(places: &[Place]) -> Vec<u8> {
    let number = |place: &Place| match place {
        Place::Unit(n) => *n,
        Place::Header(name) => {
            let at = HEADERS.iter().position(|header| header == name).unwrap_or(HEADERS.len());
            u32::MAX - at as u32
        }
    };
    let mut sorted = places.to_vec();
    sorted.sort_unstable();
    sorted.iter().flat_map(|place| number(place).to_le_bytes()).collect()
}

/// Returns the places of [`places`].
pub fn read_places(bytes: &[u8]) -> Vec<Place> {
    let place = |chunk: &[u8]| {
        let number = u32::from_le_bytes(chunk.try_into().ok()?);
        let header = HEADERS.get((u32::MAX - number) as usize);
        Some(header.map_or(Place::Unit(number), |name| Place::Header(name)))
    };
    bytes.chunks_exact(4).filter_map(place).collect()
}

/// Returns what a definition's references depend on.
pub fn watch(watch: &Watch) -> Vec<u8> {
    let mut out = vec![u8::from(watch.live)];
    put_ids(&mut out, watch.defs.iter().copied());
    out.extend_from_slice(&(watch.targets.len() as u32).to_le_bytes());
    for (id, stands) in &watch.targets {
        out.extend_from_slice(&id.to_bytes());
        let bytes = places(stands);
        out.extend_from_slice(&(stands.len() as u32).to_le_bytes());
        out.extend_from_slice(&bytes);
    }
    put_ids(&mut out, watch.links.iter().copied());
    for (layer, text) in &watch.names {
        let bytes = name(*layer, text);
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(&bytes);
    }
    out
}

/// Takes a number and that many times `size` bytes from the front.
fn take<'b>(bytes: &mut &'b [u8], size: usize) -> Option<&'b [u8]> {
    let (count, rest) = bytes.split_first_chunk::<4>()?;
    let (found, rest) = rest.split_at_checked(u32::from_le_bytes(*count) as usize * size)?;
    *bytes = rest;
    Some(found)
}

/// Returns the parts of [`watch`].
pub fn read_watch(bytes: &[u8]) -> Option<Watch> {
    let (live, mut rest) = bytes.split_first()?;
    let defs = read_ids(take(&mut rest, 16)?).into_iter().collect();
    let (count, after) = rest.split_first_chunk::<4>()?;
    rest = after;
    let mut targets = Vec::new();
    for _ in 0..u32::from_le_bytes(*count) {
        let (id, after) = rest.split_first_chunk::<16>()?;
        rest = after;
        targets.push((OpId::from_bytes(*id), read_places(take(&mut rest, 4)?).into()));
    }
    let links = read_ids(take(&mut rest, 16)?);
    let mut names = BTreeSet::new();
    while !rest.is_empty() {
        names.insert(read_name(take(&mut rest, 1)?)?);
    }
    Some(Watch { defs, names, targets: targets.into(), links, live: *live != 0 })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packed_checkpoint_is_read_as_it_was() {
        let id = |n: i64| OpId::from_parts(n, 9);
        let packed = Watch {
            defs: vec![id(1), id(2)].into(),
            names: [(Layer::Fn, "f".to_owned()), (Layer::Slot, "日本".to_owned())].into(),
            targets: vec![(id(2), vec![Place::Header("on"), Place::Unit(3)].into())].into(),
            links: vec![id(7)],
            live: true,
        };
        assert_eq!(read_watch(&watch(&packed)), Some(packed));
        assert_eq!(read_watch(&[1, 9, 0]), None);
        assert_eq!(read_ids(&ids([id(3), id(1)])), [id(3), id(1)]);
    }
}
