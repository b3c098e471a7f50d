//! The input of a run of edits beside these: the files as they are, and its rules.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use super::earlier::PastChanges;
use super::wishes::Wishes;
use crate::edit::format::Format;
use crate::edit::stream::KnownFile;
use crate::proposal::{Merger, PlaceMatch, State};

/// Looks up the present state of a path (as a model wrote it). The error is for the model and says why the path may not
/// be used.
pub type Lookup<'a> = dyn FnMut(&str) -> Result<Current, String> + 'a;

/// The text that the model read of a file which is another one now; `None`: only that it is another one is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TextRead(pub Option<Arc<str>>);

impl From<&str> for TextRead {
    fn from(text: &str) -> Self {
        TextRead(Some(text.into()))
    }
}

/// A file as it is before a run of edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Current {
    /// Its normalised path.
    pub path: String,
    /// The state of the file.
    pub state: State,
    /// True if the model knows its present text; only then may it be replaced as a whole.
    pub seen: bool,
    /// The text that the model read, where the file is another one now: edits that fit it alone are merged, and it is
    /// neither deleted nor moved. None: it is the same, or was not read.
    pub read: Option<TextRead>,
    /// The files the path may mean, where nothing is there. An edit of a part of a file goes to the only one, and so does
    /// a block with most of its lines.
    pub instead: Vec<String>,
    /// The reason why the model may not see its text: every edit but a deletion is refused with it, since what is said
    /// of the edit could quote the text.
    pub withheld: Option<String>,
}

/// The rules of a run of edits.
#[derive(Debug, Clone, Default)]
pub struct GroupRules {
    /// The one file in play, for edits that name none.
    pub in_play: Option<String>,
    /// `nebula patch`: one failure leaves out everything, not just its file, and a file that is to be new must be new.
    pub all_or_nothing: bool,
    /// Refuse a whole new text that leaves out most of its file, as [`Doubted`](crate::edit::EditStatus::Doubted), but
    /// for those texts (path and text) of which the model was asked before; `None`: every one is placed as inexact.
    pub questioned: Option<HashSet<(String, String)>>,
    /// Nobody is there who could approve what is inexact: a text of which the model was asked is refused again, and it is not
    /// told to send it once more.
    pub unattended: bool,
    /// The files whose text the model knows: a whole text under a wrong name may be one of them.
    pub known: Vec<KnownFile>,
    /// Joins edits of a file as it was read with the file as it is.
    pub merger: Merger,
    /// The changes made to files before, by path: an edit whose effect stands since is [`Made`](crate::edit::EditStatus::Made).
    pub past: HashMap<String, PastChanges>,
    /// The words by which definitions may go: a whole new text that leaves out others is inexact. `None`: they are not known.
    pub wishes: Option<Wishes>,
}

impl GroupRules {
    /// Returns how an edit of this format counts where the prompt asks for no change.
    pub(super) fn unwanted(&self, format: Format) -> Option<PlaceMatch> {
        self.wishes.as_ref()?.unwanted(format)
    }
}
