use std::collections::BTreeMap;
use std::sync::Arc;

use proptest::prelude::*;

use super::rows::{FileView, Row, Show};
use super::*;
use crate::proposal::Rung;
use crate::tui::pane::testing::{self, Screen, change, proposal, screen, shop};
use crate::tui::theme::Theme;

fn pane(width: u16, height: u16, proposal: Proposal) -> Diff {
    let mut diff = Diff::default();
    measure(&mut diff, width, height);
    let effects = diff.apply(&Event::Proposed(Arc::new(proposal), Vec::new()), 0);
    assert_eq!(effects, [Effect::Focus(PaneId::Diff)]);
    diff
}

fn measure(diff: &mut Diff, width: u16, height: u16) {
    let theme = Theme::shipped("dark");
    diff.measure(width, height, &Look { theme: &theme, glyphs: &crate::tui::glyphs::Glyphs::UNICODE });
}

fn drawn(diff: &Diff, theme: &str) -> Screen {
    screen(diff.size.0, diff.size.1, theme, true, |area, buf, ctx| diff.draw(area, buf, ctx))
}

fn act(diff: &mut Diff, actions: &[Action]) -> Vec<Effect> {
    actions.iter().flat_map(|a| diff.act(*a, 0)).collect()
}

fn decision(effects: &[Effect]) -> &crate::proposal::Decision {
    match effects {
        [Effect::Send(Command::Decide(ProposalId(7), decision))] => decision,
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_finished_frame_side_by_side() {
    let mut diff = pane(140, 35, shop());
    act(&mut diff, &[Action::Reject, Action::Accept]);
    for theme in ["dark", "light", "contrast", "plain"] {
        drawn(&diff, theme).dump(&format!("03-{theme}"));
    }
    insta::assert_snapshot!(drawn(&diff, "dark").text());
}

#[test]
fn the_finished_frame_unified() {
    let mut diff = pane(80, 25, shop());
    act(&mut diff, &[Action::Reject, Action::Accept]);
    drawn(&diff, "dark").dump("04");
    insta::assert_snapshot!(drawn(&diff, "dark").text());
}
