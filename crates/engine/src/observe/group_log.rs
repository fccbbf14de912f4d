//! Log of group changes: when groups of pages began, merged and gave space away.

use serde::{Deserialize, Serialize};

use crate::state::state;

/// A log holds no more changes, those during the fill included.
pub const MOST_CHANGES: usize = 100_000;

/// Change of the groups of a manager, or of their space.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GroupChange {
    /// Host pages written before it.
    pub host_pages: u64,
    /// Kind of the change.
    pub kind: ChangeKind,
    /// Groups are numbered; the numbers of those merged away are used again.
    pub group: u8,
    /// Groups that there are from then on.
    pub groups: u8,
}

/// Kind of a group change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum ChangeKind {
    /// A group began.
    Created,
    /// A group was merged into another.
    Merged {
        /// Group that has its pages now.
        into: u8,
    },
    /// Movement operations: in the interval that ends here, the group gave so many blocks away.
    Moved {
        /// Blocks given away.
        blocks: u32,
    },
}

impl ChangeKind {
    /// The word used in reports.
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

/// The first changes, as many as memory should hold.
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

    /// The changes, in order.
    pub fn changes(&self) -> &[GroupChange] {
        &self.changes
    }
}
