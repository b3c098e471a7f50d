//! Measures how much definitions of two versions of a file have in common, and pairs the likest.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;

use crate::code::file::SourceFile;
use crate::code::nameless::nameless_text;

/// The share of its lines, in thousandths, that one has in common at least with what it is renamed to.
const MOST: usize = 600;
/// Definitions that a line may stand in to tell which are alike.
const OFTEN: usize = 32;
/// Definitions that are compared with one that went.
const LIKELY: usize = 8;
/// Pairs of definitions of one name that are compared.
const NAMESAKES: usize = 400;

/// Some definitions of a file.
type OfFile<'f> = (&'f SourceFile, &'f [usize]);

/// The lines of a definition without its name.
struct LineShape {
    /// All that precedes its body.
    head: String,
    /// The lines of its body that hold a word, each with how often it stands there.
    lines: HashMap<String, usize>,
    count: usize,
}

impl LineShape {
    fn new(file: &SourceFile, at: usize) -> LineShape {
        let node = &file.nodes[at];
        let own = &file.text[node.own.clone()];
        let body = node.body.map_or_else(|| own.find('\n').unwrap_or(own.len()), |body| body - node.own.start);
        let solid = own[body..].lines().map(str::trim).filter(|line| line.contains(char::is_alphanumeric));
        let mut lines = HashMap::new();
        solid.for_each(|line| *lines.entry(nameless_text(line, &node.name)).or_insert(0) += 1);
        let count = lines.values().sum();
        LineShape { head: nameless_text(&file.signature(at), &node.name), lines, count }
    }

    /// Returns the share of the lines of its body that it has in common with another, in thousandths. Of those that share as
    /// much the one with the same head is likest: it alone says nothing, for many have it.
    fn likeness(&self, other: &LineShape) -> usize {
        let share = common(&self.lines, &other.lines) * 1_000 / self.count.max(other.count).max(1);
        if share >= MOST { share + usize::from(self.head == other.head) } else { 0 }
    }
}

/// Pairs definitions of other names that have most of their lines in common, the likest first.
pub(super) fn alike((before, gone): OfFile<'_>, (after, new): OfFile<'_>) -> Vec<(usize, usize)> {
    let now: Vec<LineShape> = new.iter().map(|a| LineShape::new(after, *a)).collect();
    let mut places: HashMap<&str, Vec<usize>> = HashMap::new();
    for (n, shape) in now.iter().enumerate() {
        shape.lines.keys().for_each(|line| places.entry(line).or_default().push(n));
    }
    places.retain(|_, places| places.len() <= OFTEN);
    let mut scored = Vec::new();
    for b in gone {
        let old = LineShape::new(before, *b);
        let mut shared: HashMap<usize, usize> = HashMap::new();
        for n in old.lines.keys().filter_map(|line| places.get(line.as_str())).flatten() {
            *shared.entry(*n).or_default() += 1;
        }
        let mut likely: Vec<(usize, usize)> = shared.into_iter().collect();
        likely.sort_unstable_by_key(|(n, count)| (Reverse(*count), *n));
        let compared = likely.iter().take(LIKELY).map(|(n, _)| (old.likeness(&now[*n]), *b, new[*n]));
        scored.extend(compared.filter(|(likeness, ..)| *likeness >= MOST));
    }
    one_to_one(scored)
}

/// Pairs definitions of one name, those first that have most words in common; too many of them in their order.
pub(super) fn nearest((before, gone): OfFile<'_>, (after, new): OfFile<'_>) -> Vec<(usize, usize)> {
    let (compared, is_clear) = (gone.len() * new.len(), gone.len() == 1 && new.len() == 1);
    if is_clear || compared > NAMESAKES {
        return gone.iter().copied().zip(new.iter().copied()).collect();
    }
    let now: Vec<_> = new.iter().map(|a| words(after, *a)).collect();
    let mut scored = Vec::with_capacity(compared);
    for b in gone {
        let old = words(before, *b);
        let count = |words: &HashMap<&str, usize>| words.values().sum::<usize>();
        let likeness = |now: &HashMap<&str, usize>| common(&old, now) * 1_000 / count(&old).max(count(now)).max(1);
        scored.extend(now.iter().zip(new).map(|(now, a)| (likeness(now), *b, *a)));
    }
    one_to_one(scored)
}

fn words(file: &SourceFile, at: usize) -> HashMap<&str, usize> {
    let text = &file.text[file.nodes[at].range.clone()];
    let all = text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty());
    let mut words = HashMap::new();
    all.for_each(|word| *words.entry(word).or_insert(0) += 1);
    words
}

/// Returns how much two have in common, each with its count.
fn common<K: Hash + Eq>(one: &HashMap<K, usize>, other: &HashMap<K, usize>) -> usize {
    let (few, many) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    few.iter().map(|(key, count)| (*count).min(many.get(key).copied().unwrap_or_default())).sum()
}

/// Returns pairs, each with what is likest of what is left; of those that are equally alike the first of the texts.
fn one_to_one(mut scored: Vec<(usize, usize, usize)>) -> Vec<(usize, usize)> {
    scored.sort_unstable_by_key(|(likeness, b, a)| (Reverse(*likeness), *b, *a));
    let (mut old, mut now) = (HashSet::new(), HashSet::new());
    let free = scored.into_iter().filter(|(_, b, a)| {
        let is_free = !old.contains(b) && !now.contains(a);
        is_free && old.insert(*b) && now.insert(*a)
    });
    free.map(|(_, b, a)| (b, a)).collect()
}
