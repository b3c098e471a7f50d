//! Definitions whose ops follow one another in a line: what each op is to the definition now, so that an op added at the
//! end needs none of the earlier ones.

use crate::strand::id::{DefId, OpId};
use crate::strand::op::{Kind, Op};

/// The part one op of a line has in its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// It changes no body: it is void, or sets the name or a link.
    Aside,
    /// It brought a body.
    Body,
    /// It edits the body that the definition is based on.
    Edit,
    /// It edits that body, but later edits set everything it sets.
    Covered,
    /// It edits another body.
    Inactive,
}

impl Role {
    /// All roles, in the order of their numbers in a checkpoint.
    pub const ALL: [Role; 5] = [Role::Aside, Role::Body, Role::Edit, Role::Covered, Role::Inactive];
}

/// The combined effect of ops that follow one another and take nothing away: no remove, no unlink.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// The name.
    pub name: String,
    /// The op that set the name.
    pub claim: OpId,
    /// True if that op was an `add`.
    pub claimed_by_add: bool,
    /// The op whose body the definition is based on.
    pub epoch: OpId,
    /// The definitions it is linked to, sorted.
    pub links: Vec<DefId>,
    /// The role of each op, in order.
    pub roles: Vec<Role>,
}

impl Line {
    /// Returns the line of an op that makes a definition; `None` for any other op.
    pub fn begin(op: &Op, void: bool) -> Option<Line> {
        (!void && op.kind == Kind::Add && op.def.is_none()).then(|| Line {
            name: op.name.to_string(),
            claim: op.id,
            claimed_by_add: true,
            epoch: op.id,
            links: Vec::new(),
            roles: vec![Role::Body],
        })
    }

    /// Marks the last op, if it edits the body, as one of which the next sets everything that it sets.
    pub fn cover_last(&mut self) {
        if let Some(role @ Role::Edit) = self.roles.last_mut() {
            *role = Role::Covered;
        }
    }

    /// Adds the op that follows all others. `None` if its effect depends on more than the line.
    pub fn take(&mut self, op: &Op, void: bool) -> Option<()> {
        let role = match op.kind {
            _ if void => Role::Aside,
            Kind::Add | Kind::Remove | Kind::Unlink => return None,
            Kind::Replace => {
                for role in &mut self.roles {
                    if matches!(role, Role::Edit | Role::Covered) {
                        *role = Role::Inactive;
                    }
                }
                self.epoch = op.id;
                Role::Body
            }
            Kind::Edit if op.base == Some(self.epoch) => Role::Edit,
            Kind::Edit => Role::Inactive,
            Kind::Rename => {
                op.name_new().unwrap_or_default().clone_into(&mut self.name);
                (self.claim, self.claimed_by_add) = (op.id, false);
                Role::Aside
            }
            Kind::Link => {
                if let Some(to) = op.to_def()
                    && let Err(at) = self.links.binary_search(&to)
                {
                    self.links.insert(at, to);
                }
                Role::Aside
            }
        };
        self.roles.push(role);
        Some(())
    }
}
