//! Log of group changes: creations, mergers and movements of space, with their times.

use serde::{Deserialize, Serialize};

use crate::state::state;

/// Largest number of changes that a log holds, including changes during the initial fill.
/// Later changes are not logged.
pub const MOST_CHANGES: usize = 100_000;

/// Change of a manager's groups or of their space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupChange {
    /// Host pages written before the change.
    pub host_pages: u64,
    /// Kind of the change: creation, merger or movement of space.
    pub kind: ChangeKind,
    /// Number of the group. Numbers of merged groups are reused.
    pub group: u8,
    /// Number of groups after the change.
    pub groups: u8,
}

/// Kind of a group change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// The group was created.
    Created,
    /// The group was merged into another.
    Merged {
        /// Group that received the pages.
        into: u8,
    },
    /// Movement operations (blocks given to other groups) in the interval that ends at this
    /// change.
    Moved {
        /// Blocks that the group gave away.
        blocks: u32,
    },
}

impl ChangeKind {
    /// Word for the kind of change in reports.
    pub fn name(self) -> &'static str {
        match self {
            ChangeKind::Created => "created",
            ChangeKind::Merged { .. } => "merged",
            ChangeKind::Moved { .. } => "moved",
        }
    }

    /// Blocks that movement operations took from the group.
    pub fn moved_blocks(self) -> u32 {
        if let ChangeKind::Moved { blocks } = self { blocks } else { 0 }
    }
}

/// Log of the first changes of a run, up to a limit that bounds memory.
#[derive(Debug, Clone, Default)]
pub struct GroupLog {
    changes: Vec<GroupChange>,
}

state!(GroupLog { value changes });

impl GroupLog {
    /// Adds a change, unless the log is full.
    pub fn add(&mut self, change: GroupChange) {
        if self.changes.len() < MOST_CHANGES {
            self.changes.push(change);
        }
    }

    /// Logged changes of groups, in order of time.
    pub fn changes(&self) -> &[GroupChange] {
        &self.changes
    }
}
