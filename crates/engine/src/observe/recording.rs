//! Recording of a drive: all events in order, for display step by step.

use crate::flash::{FlashOp, NONE, Notice, Observer, Score};

/// Event of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Kind of the event.
    pub kind: EventKind,
    /// Values, whose meaning depends on the kind; [`NONE`] for unused or missing values.
    pub values: [u32; 3],
}

/// Kind of an event of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Program of a page. Values: physical page, logical page, cause.
    Program,
    /// Erase of a block. Values: block, cause.
    Erase,
    /// Opening of a block for writes. Values: block, its frontier.
    Open,
    /// Choice of a block for collection. Values: block, index in [`Recording::choices`].
    Victim,
    /// Unmapping of a page. Value: logical page.
    Unmap,
    /// Creation of a group. Value: its number.
    GroupCreated,
    /// Merger of groups. Values: merged group, group that receives its blocks.
    GroupMerged,
}

impl EventKind {
    /// Word for the kind of event in reports.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Program => "program",
            EventKind::Erase => "erase",
            EventKind::Open => "open",
            EventKind::Victim => "victim",
            EventKind::Unmap => "unmap",
            EventKind::GroupCreated => "group created",
            EventKind::GroupMerged => "group merged",
        }
    }
}

/// Choice of a victim, as explained by its policy.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Name of the number that the policy compared, such as "invalid pages".
    pub measure: String,
    /// Candidates that were compared, the chosen one first.
    pub scores: Vec<Score>,
}

/// Observer that records all operations except reads, which change nothing.
/// A program takes 16 bytes, so this is suitable for small drives.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    events: Vec<Event>,
    choices: Vec<Choice>,
}

impl Recording {
    /// Recorded events, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// Choices of victims, in order.
    pub fn choices(&self) -> &[Choice] {
        &self.choices
    }

    fn add(&mut self, kind: EventKind, values: [u32; 3]) {
        self.events.push(Event { kind, values });
    }
}

impl Observer for Recording {
    fn on_op(&mut self, op: FlashOp) {
        match op {
            FlashOp::Read { .. } => {}
            FlashOp::Program { page, logical, cause, .. } => {
                self.add(EventKind::Program, [page, logical, cause as u32]);
            }
            FlashOp::Erase { block, cause } => {
                self.add(EventKind::Erase, [block, cause as u32, NONE]);
            }
        }
    }

    fn on_notice(&mut self, notice: &Notice) {
        match *notice {
            Notice::Open { block, frontier } => {
                self.add(EventKind::Open, [block, frontier.unwrap_or(NONE), NONE]);
            }
            Notice::Victim { block, measure, scores } => {
                self.add(EventKind::Victim, [block, self.choices.len() as u32, NONE]);
                self.choices.push(Choice { measure: measure.to_owned(), scores: scores.to_vec() });
            }
            Notice::Unmap { logical } => self.add(EventKind::Unmap, [logical, NONE, NONE]),
            Notice::GroupCreated { group } => {
                self.add(EventKind::GroupCreated, [group, NONE, NONE]);
            }
            Notice::GroupMerged { from, into } => {
                self.add(EventKind::GroupMerged, [from, into, NONE]);
            }
        }
    }

    fn needs_scores(&self) -> bool {
        true
    }
}
