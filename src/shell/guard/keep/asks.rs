//! Changes that the person is asked about before they happen: of files that act later, of those that are too large to be
//! copied unasked, of those that cannot be kept, and of those that the configuration leaves out of the archive.

use std::fs::{File, Metadata};
use std::io;
use std::path::Path;

use super::super::call::Refusal;
use super::super::hold::{CallConsent, HoldQuestion, lock};
use super::super::names::meta_of;
use super::super::reach::meta_at;
use super::config_file::CheckedConfig;
use super::copies::{LargeCopy, share_file};
use super::{Keeping, Verdict, number};
use crate::proposal::acts_later;
use crate::shell::message::{CALL_REFUSED, HoldAnswer, HoldReason};
use crate::workspace::repository_above;

/// The folder of a repository.
const GIT: &str = ".git";

/// Returns whether a path would act later if one of its folders were a repository's.
fn could_act_later(path: &Path) -> bool {
    let parts: Vec<String> = path.iter().map(|part| part.to_string_lossy().to_ascii_lowercase()).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).collect();
    (0..parts.len()).any(|from| acts_later_in_git(&parts[from..]))
}

/// Returns whether a change of a file acts later. Of a repository's own files those do from which it runs programs.
fn changes_what_acts_later(path: &str) -> bool {
    let mut parts = path.split('/').map(str::to_ascii_lowercase).skip_while(|part| part != GIT).skip(1).peekable();
    if parts.peek().is_none() {
        return acts_later(path);
    }
    let rest: Vec<String> = parts.collect();
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    acts_later_in_git(&rest)
}

/// Returns whether a file acts later by its path, in lower case, in a repository's folder.
fn acts_later_in_git(rest: &[&str]) -> bool {
    match rest {
        // Git runs no example of a hook.
        [.., "hooks", name] if name.ends_with(".sample") => false,
        // The file `commondir` says from which folder both are taken.
        ["config" | "config.worktree" | "commondir"] | ["hooks", ..] => true,
        ["modules" | "worktrees", .., "config" | "config.worktree" | "commondir"] => {
            !rest.contains(&"refs") && !rest.contains(&"logs")
        }
        ["modules", within @ ..] => within.contains(&"hooks") && !within.contains(&"refs") && !within.contains(&"logs"),
        _ => false,
    }
}

impl Keeping {
    /// Returns the question that the last call raised, where the person may decide about it.
    pub fn take_question(&mut self) -> Option<HoldQuestion> {
        self.question.take()
    }

    /// Returns the configuration that the last call puts in place, which is done here.
    pub fn take_config(&mut self) -> Option<CheckedConfig> {
        self.configs.take()
    }

    /// Removes the configuration of its own that the last call removes. None: it removes none.
    ///
    /// # Errors
    /// When it cannot be removed.
    pub fn remove_own_config(&mut self) -> Option<Result<(), Refusal>> {
        self.configs.remove_own()
    }

    /// Makes the empty configuration that the last call opens. None: it opens none.
    ///
    /// # Errors
    /// When it cannot be made.
    pub fn make_empty_config(&mut self) -> Option<Result<File, Refusal>> {
        self.configs.make_empty()
    }

    /// Looks at a call that can be looked at again: a large file is not copied, but asked for by
    /// [`Keeping::take_copy`].
    pub fn look<T>(&mut self, look: impl FnOnce(&mut Keeping) -> T) -> T {
        self.copies.may_wait = true;
        let looked = look(self);
        self.copies.may_wait = false;
        looked
    }

    /// Returns the copy that has to be made before the last call is looked at again.
    pub fn take_copy(&mut self) -> Option<LargeCopy> {
        self.copies.first.take()
    }

    /// Takes a copy that was made, or could not be made.
    pub fn add_copy(&mut self, copy: LargeCopy) {
        self.copies.add(copy);
    }

    fn consent(&self, reason: HoldReason, path: &str) -> CallConsent {
        lock(&self.consents).about(reason, path)
    }

    /// Lets a file that acts later be changed, or made, only where the person lets it.
    pub(super) fn ask_about_later(&mut self, path: &Path) -> Verdict {
        let name = self.name(path);
        // The folder of a repository may have any name.
        let base = self.places.base_of(path);
        let in_bare = || {
            // Looking into each folder above costs more than all else of a call.
            let inside = path.strip_prefix(base).ok().filter(|inside| acts_later(&name) || could_act_later(inside))?;
            let (_, inside) = repository_above(base, inside)?;
            // Anyone can make what looks like a repository: only what git names by branches is excused there.
            let is_branch = inside.starts_with("refs") || inside.starts_with("logs");
            (is_branch || changes_what_acts_later(&format!("{GIT}/{}", inside.display()))).then_some(inside)
        };
        let inside = self.places.in_linked(path).map(Path::to_path_buf).or_else(in_bare);
        let in_git = inside.map(|inside| format!("{GIT}/{}", inside.display()));
        if !changes_what_acts_later(in_git.as_ref().unwrap_or(&name)) || self.configs.is_free(path) {
            return Ok(());
        }
        match self.consent(HoldReason::ActsLater, &name) {
            CallConsent::Unasked | CallConsent::Said(HoldAnswer::Allow | HoldAnswer::AllowAll) => Ok(()),
            CallConsent::Said(HoldAnswer::Refuse | HoldAnswer::Unkept) => {
                self.summary.said_no += 1;
                self.summary.first_said_no.get_or_insert(name);
                Err(libc::EACCES)
            }
            CallConsent::Said(HoldAnswer::Nobody) => {
                self.summary.unanswered += 1;
                self.summary.first_unanswered.get_or_insert(name);
                Err(libc::EACCES)
            }
            CallConsent::Ask if lock(&self.consents).is_unattended() && self.configs.empty(path) => Ok(()),
            CallConsent::Ask => {
                let bytes = meta_at(path).ok().map(|meta| meta.len());
                self.question = Some(HoldQuestion { bytes, ..HoldQuestion::new(HoldReason::ActsLater, name) });
                Err(libc::EACCES)
            }
        }
    }

    /// Answers for a path at which nothing is. The kernel may find another file of that name, where folders or links change
    /// their places meanwhile: one that acts later is not left to it.
    pub(super) fn nothing_at(&self, path: &Path) -> Verdict {
        if changes_what_acts_later(&self.name(path)) { Err(libc::ENOENT) } else { Ok(()) }
    }

    /// Lets a file that the configuration leaves out of the archive by this glob be changed, or go, only where the person
    /// lets it or was warned of it. What the command made itself is its own.
    pub(super) fn ask_about_excluded(&mut self, path: &Path, glob: &str) -> Verdict {
        let why = format!("archiveExclude: {glob}");
        let Some(meta) = meta_of(path).filter(|meta| !meta.is_dir() && !self.made.contains(path)) else {
            return self.unarchived(path, &why);
        };
        let bytes = Some(meta.len());
        let question = HoldQuestion { bytes, why: Some(why.clone()), ..self.about(HoldReason::Excluded, path) };
        self.decide(question, &why).map(drop)
    }

    /// Copies a file, which has the name `path` in the workspace, as far as the limits go or the person lets it. Returns
    /// false where it may go on without that: `may_go_unkept`.
    pub(super) fn copy_to(
        &mut self,
        (from, to): (&Path, &Path),
        meta: &Metadata,
        path: &Path,
        may_go_unkept: bool,
    ) -> Result<bool, Refusal> {
        let unasked = self.is_within_limits(meta);
        // What shares its blocks takes no room, however large it is.
        if !unasked && share_file(from, to, meta) {
            return Ok(true);
        }
        if !unasked {
            let question =
                HoldQuestion { bytes: Some(meta.len()), may_go_unkept, ..self.about(HoldReason::TooLarge, path) };
            if self.decide(question, "too large to be copied")? == HoldAnswer::Unkept {
                return Ok(false);
            }
        }
        let staging = &mut self.staging;
        match self.copies.copy_or_take((from, to), meta, || staging.new_name().0) {
            // Its call is looked at again.
            Ok(false) => Err(libc::EAGAIN),
            Ok(true) => {
                self.bytes += if unasked { meta.len() } else { 0 };
                Ok(true)
            }
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
                let why = Some(error.to_string());
                let bytes = Some(meta.len());
                let question = HoldQuestion { why, bytes, may_go_unkept, ..self.about(HoldReason::Unkeepable, path) };
                self.decide(question, "it cannot be read").map(|_| false)
            }
            Err(error) => Err(number(&error)),
        }
    }

    /// Returns whether a file is copied unasked.
    pub(super) fn is_within_limits(&self, meta: &Metadata) -> bool {
        meta.len() <= self.limits.file && self.bytes + meta.len() <= self.limits.total
    }

    fn about(&self, reason: HoldReason, path: &Path) -> HoldQuestion {
        HoldQuestion::new(reason, self.name(path))
    }

    /// Returns the person's decision, which lets the call go on, about a state that is not kept as others are: `why`. The
    /// number is the one with which it fails.
    fn decide(&mut self, question: HoldQuestion, why: &str) -> Result<HoldAnswer, Refusal> {
        let (reason, path) = (question.reason, question.path.clone());
        let number = if reason == HoldReason::TooLarge { libc::EDQUOT } else { libc::EACCES };
        // Of what cannot be kept, all may go on unkept.
        let all = reason == HoldReason::Unkeepable;
        match self.consent(reason, &path) {
            CallConsent::Said(answer)
                if question.may_go_unkept && (answer == HoldAnswer::Unkept || all && answer == HoldAnswer::Allow) =>
            {
                self.unarchived(Path::new(&path), &format!("{why}: you let the call go on"))?;
                Ok(HoldAnswer::Unkept)
            }
            CallConsent::Said(answer @ (HoldAnswer::Allow | HoldAnswer::AllowAll))
                if reason == HoldReason::TooLarge =>
            {
                Ok(answer)
            }
            // Where nobody is asked, they are warned before the start.
            CallConsent::Said(HoldAnswer::Allow | HoldAnswer::AllowAll) | CallConsent::Unasked
                if reason == HoldReason::Excluded =>
            {
                self.unarchived(Path::new(&path), why)?;
                Ok(HoldAnswer::Unkept)
            }
            CallConsent::Ask => {
                self.question = Some(question);
                Err(number)
            }
            CallConsent::Unasked if reason == HoldReason::TooLarge => {
                let is_single = question.bytes.is_some_and(|bytes| bytes > self.limits.file);
                let limit = if is_single { "shell.keepFile" } else { "shell.keepTotal" };
                self.unarchived(Path::new(&path), &format!("{why}: {CALL_REFUSED}; {limit} raises the limit"))?;
                Err(number)
            }
            CallConsent::Unasked | CallConsent::Said(_) => {
                self.unarchived(Path::new(&path), &format!("{why}: {CALL_REFUSED}"))?;
                Err(number)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_repository_only_what_runs_programs_acts_later() {
        for path in [
            "AGENTS.md",
            "sub/.claude/x",
            ".git/config",
            ".git/hooks/pre-commit",
            "sub/.git",
            ".GIT/hooks/x",
            ".git/modules/a/config",
            ".git/modules/a/b/hooks/update",
            ".git/worktrees/w/config.worktree",
            ".git/commondir",
            ".git/modules/a/commondir",
            ".git/hooks/pre-commit.sample/x",
        ] {
            assert!(changes_what_acts_later(path), "{path}");
        }
        for path in [
            "src/main.rs",
            ".git/index",
            ".git/HEAD",
            ".git/refs/heads/config",
            ".git/refs/heads/hooks/a",
            ".git/logs/refs/heads/main",
            ".git/config.lock",
            ".git/modules/a/refs/heads/config",
            ".git/modules/a/index",
            ".git/refs/heads/commondir",
            ".git/hooks/pre-commit.sample",
        ] {
            assert!(!changes_what_acts_later(path), "{path}");
        }
    }
}
