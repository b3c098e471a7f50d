//! `refs`: the places where a definition is mentioned, each with its certainty.

use std::collections::BTreeMap;
use std::io::Write;

use serde_json::{Value, json};

use super::args::RefsCode;
use super::failure::{Failed, REFUSED, USAGE};
use super::place::Place;
use super::read::{tell_notes, with_notes};
use crate::cli::out::Out;
use crate::code::{Certainty, CodeTarget};
use crate::definitions::{FoundMention, SourceFiles};

/// Places that a refusal lists.
const LISTED: usize = 20;

pub(super) fn refs(place: &Place<'_>, args: &RefsCode) -> Result<Value, Failed> {
    let least = args.min_certainty.as_deref().map_or(Ok(Certainty::Name), certainty)?;
    let (file, at) = place.finder.one(&args.selector)?;
    let path = file.source.path.clone();
    let sources = SourceFiles::new(&place.finder, file)?;
    let target = sources.target(&path, at)?;
    let found = sources.mentions(&target);
    let mut counts: BTreeMap<&str, usize> = Certainty::ALL.iter().map(|certainty| (certainty.word(), 0)).collect();
    found.iter().for_each(|one| *counts.entry(one.mention.certainty.word()).or_default() += 1);
    let shown: Vec<&FoundMention> = found.iter().filter(|one| one.mention.certainty >= least).collect();
    if !place.json {
        let mut out = Out::stdout();
        for one in &shown {
            let (place, certainty) = (format!("{}:{}", one.place(), one.column()), one.mention.certainty.word());
            writeln!(out, "{place}  {certainty}  {}", one.text())?;
        }
        out.flush()?;
    }
    tell_notes(place, &sources.notes(), "mentions may be missing or another's");
    let shown: Vec<Value> = shown.into_iter().map(mention_json).collect();
    Ok(with_notes(json!({"refs": shown, "counts": counts}), &sources.notes()))
}

/// Returns the certainty of a word.
fn certainty(word: &str) -> Result<Certainty, Failed> {
    let words: Vec<&str> = Certainty::ALL.iter().map(|certainty| certainty.word()).collect();
    let why = || format!("'{word}' is no certainty: use one of {}", words.join(", "));
    Certainty::named(word).ok_or_else(|| Failed::new("usage", USAGE, why()))
}

fn mention_json(one: &FoundMention) -> Value {
    json!({
        "path": one.file.path, "line": one.line(), "column": one.column(), "in": one.within(),
        "certainty": one.mention.certainty.word(), "text": one.text(),
    })
}

/// Refuses to remove what is mentioned outside itself, unless nothing but the name says so.
pub(super) fn unmentioned(target: &CodeTarget, sources: &SourceFiles<'_>) -> Result<(), Failed> {
    let own = &target.node().range;
    let mut places: Vec<String> = Vec::new();
    for one in sources.mentions(target) {
        let inside = one.file.path == target.file.path && own.contains(&one.mention.at.start);
        if !inside && (one.mention.certainty > Certainty::Name || one.mention.is_possible) {
            places.push(one.place());
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let mut text = format!("cannot remove {} (referenced by {})\n", target.file.id(target.at), counted(places.len()));
    places.iter().take(LISTED).for_each(|place| text.push_str(&format!("  {place}\n")));
    if places.len() > LISTED {
        text.push_str(&format!("  ... and {} more\n", places.len() - LISTED));
    }
    text.push_str("Use --force to leave them dangling");
    Err(Failed::new("referenced", REFUSED, text).with(json!({"referenced_by": places})))
}

fn counted(places: usize) -> String {
    crate::text::number::plural(places, "place")
}
