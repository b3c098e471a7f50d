//! The index behind [`super::Files`], and a search in it.
//!
//! A million paths do not all go through the matcher. Each carries the set of letters in it and in its name; what
//! lacks a letter of the query is passed over at once, and of the rest the likeliest go first.

use std::collections::BTreeSet;

use nucleo_matcher::pattern::{AtomKind, CaseMatching, Normalization, Pattern};
use nucleo_matcher::{Config, Matcher, Utf32Str, chars};
use unicode_segmentation::UnicodeSegmentation;

/// Paths that the matcher sees in a round, in all threads together.
const ROUND: usize = 12_000;
/// Threads that match at once, at most.
const THREADS: usize = 4;
/// The shallowest paths that are known without a search.
const SHALLOWEST: usize = 256;

/// A path that matches.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Normalised path; a folder's ends in `/`.
    pub path: String,
    /// Byte positions of matched letters.
    pub at: Vec<u32>,
}

/// Paths one after another in one text, with data that excludes non-matching ones quickly.
#[derive(Debug, Default)]
pub struct Index {
    text: String,
    ends: Vec<u32>,
    letters: Vec<u64>,
    names: Vec<Name>,
    gone: Vec<bool>,
    left: usize,
    /// The beginnings of runs of entries that are sorted by path.
    runs: Vec<u32>,
    /// The paths that come before `deep`, by depth and path.
    shallow: BTreeSet<(u8, String)>,
    deep: Option<(u8, String)>,
    /// Counts changes, so that a search knows whether it may continue.
    changes: u64,
}

/// The last name of a path.
#[derive(Debug, Clone, Copy)]
struct Name {
    letters: u64,
    /// Bytes of the whole path, as far as they count.
    length: u16,
    first: u8,
    depth: u8,
}

impl Index {
    /// Creates an index of these paths alone.
    pub fn of<S: AsRef<str>>(paths: &[S]) -> Self {
        let mut sorted: Vec<&str> = paths.iter().map(AsRef::as_ref).collect();
        sorted.sort_unstable();
        let mut index = Index { runs: vec![0], ..Index::default() };
        sorted.into_iter().for_each(|p| index.push(p));
        index
    }

    fn push(&mut self, path: &str) {
        let Ok(end) = u32::try_from(self.text.len() + path.len()) else { return };
        let trimmed = path.trim_end_matches('/');
        let name = trimmed.rsplit('/').next().unwrap_or(trimmed);
        let first = name.bytes().next().unwrap_or(0).to_ascii_lowercase();
        let depth = u8::try_from(trimmed.matches('/').count()).unwrap_or(u8::MAX);
        let length = path.len().min(LONGEST) as u16;
        self.letters.push(letters(path));
        self.names.push(Name { letters: letters(name), length, first, depth });
        self.gone.push(false);
        self.left += 1;
        self.text.push_str(path);
        self.ends.push(end);
        self.keep_shallow(depth, path);
    }

    /// Takes over the entries of another.
    pub fn append(&mut self, other: Index) {
        // 4 GiB of names: beyond that the index is full.
        let Ok(shift) = u32::try_from(self.text.len()) else { return };
        if u32::try_from(self.text.len() + other.text.len()).is_err() || other.ends.is_empty() {
            return;
        }
        let from = self.ends.len() as u32;
        self.changes += 1;
        self.runs.extend(other.runs.iter().map(|r| r + from));
        self.ends.extend(other.ends.iter().map(|e| e + shift));
        self.text.push_str(&other.text);
        self.letters.extend(&other.letters);
        self.names.extend(&other.names);
        self.gone.extend(&other.gone);
        self.left += other.left;
        if let Some((depth, path)) = other.deep {
            self.keep_shallow(depth, &path);
        }
        other.shallow.iter().for_each(|(depth, path)| self.keep_shallow(*depth, path));
    }

    /// Takes note of a path if it is one of the shallowest.
    fn keep_shallow(&mut self, depth: u8, path: &str) {
        if self.deep.as_ref().is_some_and(|(d, p)| (depth, path) >= (*d, p.as_str())) {
            return;
        }
        self.shallow.insert((depth, path.to_string()));
        if self.shallow.len() > SHALLOWEST {
            self.deep = self.shallow.pop_last();
        }
    }

    fn start(&self, i: usize) -> usize {
        if i == 0 { 0 } else { self.ends[i - 1] as usize }
    }

    fn path(&self, i: usize) -> &str {
        &self.text[self.start(i)..self.ends[i] as usize]
    }

    /// Counts paths.
    pub fn count(&self) -> usize {
        self.left
    }

    /// Returns the entry of a path, also of one that is gone.
    pub fn position(&self, path: &str) -> Option<usize> {
        let ends = self.runs.iter().skip(1).map(|r| *r as usize).chain([self.ends.len()]);
        for (start, end) in self.runs.iter().map(|r| *r as usize).zip(ends) {
            let (mut low, mut high) = (start, end);
            while low < high {
                let middle = low + (high - low) / 2;
                match self.path(middle).cmp(path) {
                    std::cmp::Ordering::Less => low = middle + 1,
                    std::cmp::Ordering::Greater => high = middle,
                    std::cmp::Ordering::Equal => return Some(middle),
                }
            }
        }
        None
    }

    /// Records that an entry's path was removed, or exists again.
    pub fn set_gone(&mut self, i: usize, gone: bool) {
        if self.gone[i] == gone {
            return;
        }
        self.gone[i] = gone;
        self.changes += 1;
        let (depth, path) = (self.names[i].depth, self.path(i).to_string());
        if gone {
            self.left -= 1;
            self.shallow.remove(&(depth, path));
        } else {
            self.left += 1;
            self.keep_shallow(depth, &path);
        }
    }

    /// Returns the shallowest paths, at most this many, by depth and name.
    pub fn shallowest(&self, limit: usize) -> Vec<Hit> {
        let hit = |path: &str| Hit { path: path.into(), at: Vec::new() };
        if self.shallow.len() >= limit.min(self.left) {
            return self.shallow.iter().take(limit).map(|(_, path)| hit(path)).collect();
        }
        let mut all: Vec<u32> = (0..self.ends.len() as u32).filter(|i| !self.gone[*i as usize]).collect();
        let key = |i: &u32| (self.names[*i as usize].depth, self.path(*i as usize));
        if all.len() > limit {
            all.select_nth_unstable_by_key(limit, key);
            all.truncate(limit);
        }
        all.sort_unstable_by_key(key);
        all.into_iter().map(|i| hit(self.path(i as usize))).collect()
    }
}

/// Bytes of a path beyond which length makes no difference.
const LONGEST: usize = 1023;
/// Classes of likelihood: three of where the letters are, and the length.
const CLASSES: usize = 4 * (LONGEST + 1);

/// A search under way. Whoever has not enough hits after a round goes on with the next.
#[derive(Debug)]
pub struct RunningSearch {
    query: String,
    limit: usize,
    /// The index's count of changes: entries are valid only while it is the same.
    changes: u64,
    pattern: Pattern,
    wanted: u64,
    first: u8,
    /// Entries to be matched, the likeliest first, and how many of them were.
    next: Vec<u32>,
    matched: usize,
    /// Entries of a class below this one come after those.
    below: usize,
    /// Scores and entries.
    found: Vec<(u32, u32)>,
}

impl RunningSearch {
    /// Creates a search that has not begun.
    pub fn new(query: &str, limit: usize, index: &Index) -> Self {
        RunningSearch {
            query: query.into(),
            limit,
            changes: index.changes,
            pattern: Pattern::new(query, CaseMatching::Smart, Normalization::Smart, AtomKind::Fuzzy),
            wanted: letters(query),
            first: query.trim_start().bytes().next().unwrap_or(0).to_ascii_lowercase(),
            next: Vec::new(),
            matched: 0,
            below: CLASSES,
            found: Vec::new(),
        }
    }

    /// Returns whether it is the search for this in this state of the index.
    pub fn is_of(&self, query: &str, limit: usize, index: &Index) -> bool {
        (self.query.as_str(), self.limit, self.changes) == (query, limit, index.changes)
    }

    /// Returns whether there are hits enough, or no entries left.
    pub fn is_over(&self) -> bool {
        self.found.len() >= self.limit || (self.matched == self.next.len() && self.below == 0)
    }

    /// Does a round. Returns whether it is worth another.
    pub fn go_on(&mut self, index: &Index) -> bool {
        if self.matched == self.next.len() {
            self.gather(index);
        }
        let end = (self.matched + ROUND).min(self.next.len());
        let found = self.matches(index, &self.next[self.matched..end]);
        self.found.extend(found);
        self.matched = end;
        !self.is_over()
    }

    /// Returns the hits so far, best first.
    pub fn hits(&self, index: &Index) -> Vec<Hit> {
        let mut found = self.found.clone();
        let key = |(score, i): &(u32, u32)| (std::cmp::Reverse(*score), index.path(*i as usize).len(), *i);
        if found.len() > self.limit {
            found.select_nth_unstable_by_key(self.limit, key);
            found.truncate(self.limit);
        }
        found.sort_unstable_by_key(key);
        let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
        found.into_iter().map(|(_, i)| hit(&self.pattern, index.path(i as usize), &mut matcher)).collect()
    }

    /// Returns how likely an entry is to be meant; `None`: it lacks a letter, or is gone.
    fn class(&self, index: &Index, i: usize) -> Option<usize> {
        if index.letters[i] & self.wanted != self.wanted || index.gone[i] {
            return None;
        }
        let name = index.names[i];
        let in_name = usize::from(name.letters & self.wanted == self.wanted);
        let begins = usize::from(name.first == self.first);
        Some((in_name * 2 + in_name * begins) * (LONGEST + 1) + LONGEST - usize::from(name.length))
    }

    /// Takes up the next entries: first the classes that fill one round, then all others.
    fn gather(&mut self, index: &Index) {
        let from = if self.below == CLASSES { self.first_class(index) } else { 0 };
        let classes = from..self.below;
        let candidates = in_parts(index.ends.len(), |part| {
            let of = part.filter_map(|i| Some((self.class(index, i).filter(|c| classes.contains(c))?, i)));
            of.map(|(class, i)| (class as u16, i as u32)).collect()
        });
        // By counting: there are far fewer classes than entries.
        let mut places = vec![0; CLASSES + 1];
        candidates.iter().for_each(|(class, _)| places[CLASSES - 1 - usize::from(*class) + 1] += 1);
        for place in 1..places.len() {
            places[place] += places[place - 1];
        }
        self.next.clear();
        self.next.resize(candidates.len(), 0);
        for (class, i) in candidates {
            let place = &mut places[CLASSES - 1 - usize::from(class)];
            self.next[*place] = i;
            *place += 1;
        }
        (self.matched, self.below) = (0, from);
    }

    /// Returns the class down to which there are entries enough for a round.
    fn first_class(&self, index: &Index) -> usize {
        let counted = in_parts(index.ends.len(), |part| {
            let mut counts = vec![0_u32; CLASSES];
            part.filter_map(|i| self.class(index, i)).for_each(|class| counts[class] += 1);
            vec![counts]
        });
        let mut sum = 0;
        let enough = |class: &usize| {
            sum += counted.iter().map(|counts| counts[*class] as usize).sum::<usize>();
            sum >= ROUND
        };
        (0..CLASSES).rev().find(enough).unwrap_or(0)
    }

    /// Returns the scores of those among the entries that match.
    fn matches(&self, index: &Index, entries: &[u32]) -> Vec<(u32, u32)> {
        in_parts(entries.len(), |part| {
            let mut matcher = Matcher::new(Config::DEFAULT.match_paths());
            let mut buffer = Vec::new();
            let score = |i: &u32| {
                let path = Utf32Str::new(index.path(*i as usize), &mut buffer);
                self.pattern.score(path, &mut matcher).map(|score| (score, *i))
            };
            entries[part].iter().filter_map(score).collect()
        })
    }
}

/// Does the parts of `0..len` side by side and joins what they give.
fn in_parts<T: Send>(len: usize, act: impl Fn(std::ops::Range<usize>) -> Vec<T> + Sync) -> Vec<T> {
    const SMALL: usize = 2_000;
    let threads = std::thread::available_parallelism().map_or(1, usize::from).min(THREADS);
    if len < SMALL || threads == 1 {
        return act(0..len);
    }
    let size = len.div_ceil(threads);
    std::thread::scope(|scope| {
        let act = &act;
        let starts = (size..len).step_by(size);
        let workers: Vec<_> = starts.map(|s| scope.spawn(move || act(s..(s + size).min(len)))).collect();
        let mut all = act(0..size);
        for worker in workers {
            match worker.join() {
                Ok(part) => all.extend(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        all
    })
}

/// Returns the letters of a text as a set: one bit each for `a`–`z` and `0`–`9`, the other bits shared by all else.
fn letters(text: &str) -> u64 {
    let bit = |c: char| match c {
        'a'..='z' => 1 << (c as u32 - 'a' as u32),
        '0'..='9' => 1 << (c as u32 - '0' as u32 + 26),
        c => 1 << (c as u32 % 28 + 36),
    };
    text.chars().filter(|c| !c.is_whitespace()).fold(0, |set, c| match c {
        'A'..='Z' => set | bit(c.to_ascii_lowercase()),
        c if c.is_ascii() => set | bit(c),
        // The matcher takes a plain letter for one with a mark.
        c => {
            let lower = chars::to_lower_case(c);
            set | bit(lower) | bit(chars::to_lower_case(chars::normalize(lower)))
        }
    })
}

/// Returns a path with the places where it matches.
fn hit(pattern: &Pattern, path: &str, matcher: &mut Matcher) -> Hit {
    let (mut buffer, mut indices) = (Vec::new(), Vec::new());
    pattern.indices(Utf32Str::new(path, &mut buffer), matcher, &mut indices);
    indices.sort_unstable();
    indices.dedup();
    let at = if path.is_ascii() {
        indices
    } else {
        let starts: Vec<_> = path.grapheme_indices(true).map(|(at, _)| at as u32).collect();
        indices.into_iter().filter_map(|i| starts.get(i as usize).copied()).collect()
    };
    Hit { path: path.into(), at }
}
