//! Files named in the input: the list under `@`, and the offer to mention a file whose bare name was typed.

use super::{App, Effect, Owner};
use crate::context::mention::bare_name;
use crate::protocol::{Listing, Query};
use crate::tui::action::Action;
use crate::tui::input::complete::Completion;
use crate::tui::input::composer::Offer;
use crate::tui::popup::finder;

impl App {
    /// Opens, narrows or closes the completion, as the text before the caret has it.
    pub(super) fn complete(&mut self) -> Vec<Effect> {
        if self.composer.spaced != Some(self.composer.input.caret()) {
            self.composer.spaced = None;
        }
        let Some(typing) = Completion::at(self.composer.input.text(), self.composer.input.caret()) else {
            (self.composer.completion, self.composer.closed_at) = (None, None);
            return self.offer();
        };
        self.composer.offer = None;
        if self.composer.closed_at == Some(typing.range.start) {
            return Vec::new();
        }
        let c = self.composer.completion.get_or_insert_default();
        c.hasty = false;
        let queries = if c.words == typing.words && c.listed { Vec::new() } else { c.narrow(&typing.words) };
        c.set_lines(&typing.lines);
        self.ask_all(Owner::Completion, queries)
    }

    pub(super) fn act_completion(&mut self, action: Action) -> Vec<Effect> {
        let area = finder::place(&self.rects, 0);
        let rows = finder::rows(area);
        let Some(completion) = &mut self.composer.completion else { return self.act_input(action) };
        match action {
            Action::Up | Action::Down => {
                let queries = completion.step(action == Action::Down, rows);
                self.ask_all(Owner::Completion, queries)
            }
            Action::PreviewUp | Action::PreviewDown => {
                completion.scroll(action == Action::PreviewDown, finder::preview_rows(area));
                Vec::new()
            }
            // The list is that of a letter before: what it begins with may be another file.
            Action::Insert | Action::Choose if !completion.fresh => {
                completion.hasty = true;
                Vec::new()
            }
            Action::Choose if completion.path().is_none() || self.is_whole() => {
                self.composer.completion = None;
                self.act_input(Action::Send)
            }
            Action::Insert | Action::Choose => self.insert_completion(),
            Action::Close => {
                self.composer.completion = None;
                self.composer.closed_at = Completion::at(self.composer.input.text(), self.composer.input.caret())
                    .map(|typing| typing.range.start);
                Vec::new()
            }
            action => self.act_input(action),
        }
    }

    /// Returns whether the selected file is what stands in the input already.
    fn is_whole(&self) -> bool {
        let chosen = self.composer.completion.as_ref().and_then(|c| c.chosen());
        let typed = Completion::at(self.composer.input.text(), self.composer.input.caret())
            .map(|t| &self.composer.input.text()[t.range]);
        // As one may write a path: `@/src/a.rs`, `@./src/a.rs`.
        let plain =
            |mention: &str| mention.trim_start_matches('@').trim_start_matches("./").trim_matches('/').to_string();
        chosen.zip(typed).is_some_and(|(chosen, typed)| plain(chosen.trim_end()) == plain(typed))
    }

    /// Puts the selected file in place of what was typed; with none there is nothing to do.
    pub(super) fn insert_completion(&mut self) -> Vec<Effect> {
        let chosen = self.composer.completion.take().and_then(|c| c.chosen());
        let place = Completion::at(self.composer.input.text(), self.composer.input.caret()).map(|t| t.range);
        if let (Some(chosen), Some(place)) = (chosen, place) {
            self.put_mention(place, &chosen);
            if chosen.ends_with('/') {
                return self.complete();
            }
        }
        Vec::new()
    }

    /// Puts a mention into the input. The space behind it gives way to what belongs to the mention or closes a clause.
    pub(super) fn put_mention(&mut self, place: std::ops::Range<usize>, mention: &str) {
        self.composer.input.replace(place, mention);
        self.composer.spaced = mention.ends_with(' ').then(|| self.composer.input.caret());
    }

    /// Offers to mention the file whose bare name ends at the caret.
    fn offer(&mut self) -> Vec<Effect> {
        let bare = bare_name(self.composer.input.text(), self.composer.input.caret());
        let Some(place) = bare else {
            self.composer.offer = None;
            return Vec::new();
        };
        let name = self.composer.input.text()[place.clone()].to_string();
        if self.composer.offer.as_ref().is_some_and(|o| o.place == place && o.name == name) {
            return Vec::new();
        }
        self.composer.offer = Some(Offer { place, name: name.clone(), path: None });
        vec![self.ask(Owner::Bare, Query::Files(name))]
    }

    /// Returns the file on offer, while its name ends at the caret.
    pub(in crate::tui) fn on_offer(&self) -> Option<&str> {
        let Offer { place, name, path } = self.composer.offer.as_ref()?;
        let stands =
            self.composer.input.caret() == place.end && self.composer.input.text().get(place.clone()) == Some(name);
        path.as_deref().filter(|_| stands)
    }

    /// Returns the folder in which the command that is typed would run, where that is not the workspace's root.
    pub(in crate::tui) fn runs_in(&self) -> Option<&str> {
        self.session.status.next_folder.as_deref().filter(|_| self.composer.input.text().starts_with('!'))
    }

    /// Takes in which files there are of the name that was asked for.
    pub(super) fn offered(&mut self, query: &Query, listing: &Listing) {
        let (Query::Files(name), Listing::Files { hits, .. }) = (query, listing) else { return };
        if let Some(offer) = self.composer.offer.as_mut().filter(|o| o.name == *name) {
            let name = offer.name.trim_start_matches("./");
            let named = |path: &&String| **path == name || path.ends_with(&format!("/{name}"));
            offer.path = hits.iter().map(|(path, _)| path).find(named).cloned();
        }
    }

    /// Files came or went: a list that is open is asked for again, and keeps what is selected.
    pub(super) fn files_changed(&mut self) -> Vec<Effect> {
        let queries = self.composer.completion.as_ref().map(Completion::again);
        self.ask_all(Owner::Completion, queries.unwrap_or_default())
    }
}
