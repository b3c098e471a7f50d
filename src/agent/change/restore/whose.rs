//! Names the maker of what a restore undoes, where it is not the session that asks for it.

use crate::agent::services::Services;
use crate::agent::services::changesets::other_nebula;
use crate::archive::{Id, RestoreTarget};
use crate::messages::agent as say;
use crate::restore_plan::RestorePlan;

/// Returns the title of a plan for the person, with whose changes it undoes where they are not those of the session `own`.
/// For blocking code alone: it waits for memory.
pub(super) fn title(services: &Services, own: Option<&str>, plan: &RestorePlan, newest: Option<Id>) -> String {
    match maker(services, own, changesets(plan, newest)) {
        Some(maker) => format!("{} {maker}", plan.title),
        None => plan.title.clone(),
    }
}

/// Returns who else made one of these changesets, in words; none: nobody did, as far as memory knows.
fn maker(services: &Services, own: Option<&str>, names: Vec<String>) -> Option<&'static str> {
    let project = services.project();
    let records = services.memory.ask_blocking(move |memory| {
        // One that cannot be read hides no other.
        Ok(names.iter().filter_map(|name| memory.changeset(&project, name).ok()?).collect::<Vec<_>>())
    });
    let mut records = services.record_error(records).unwrap_or_default();
    records.retain(|record| record.cause.session.as_deref().is_some_and(|session| Some(session) != own));
    match records.iter().any(|record| other_nebula(services, record)) {
        true => Some(say::of_other_nebula()),
        false => (!records.is_empty()).then(say::of_other_session),
    }
}

/// Returns the changesets that a plan undoes, as far as these are certain; `newest`: the one that is undone where none is
/// named.
fn changesets(plan: &RestorePlan, newest: Option<Id>) -> Vec<String> {
    match &plan.request {
        RestoreTarget::Changesets(ids) => ids.iter().map(Id::to_string).collect(),
        _ => newest.iter().map(Id::to_string).collect(),
    }
}
