//! Recording of a drive: all that happens on it, in order, to be shown step by step.

use crate::flash::{FlashOp, NONE, Notice, Observer, Score};

/// Event of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Kind of the event.
    pub kind: EventKind,
    /// Values, whose meaning the kind says; [`NONE`] where it has fewer, or nothing to say.
    pub values: [u32; 3],
}

/// Kind of an event of a recording.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// Physical page, logical page that is programmed there, and cause.
    Program,
    /// Block that is erased, and cause.
    Erase,
    /// Block that is opened, and frontier that it stands behind.
    Open,
    /// Block that is chosen for collection, and the choice, one of [`Recording::choices`].
    Victim,
    /// Logical page that is unmapped.
    Unmap,
    /// Group that begins.
    GroupCreated,
    /// Group that is no more, and the one that has its blocks.
    GroupMerged,
}

impl EventKind {
    /// The word used in reports.
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

/// Choice of a victim, as its policy explains it.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// Measure by which it was chosen, in words.
    pub measure: String,
    /// Candidates that were looked at, the chosen one first.
    pub scores: Vec<Score>,
}

/// Observer that keeps everything but reads, which change nothing.
/// A program takes 16 bytes, so this is for small drives.
#[derive(Debug, Clone, Default)]
pub struct Recording {
    events: Vec<Event>,
    choices: Vec<Choice>,
}

impl Recording {
    /// The events, in order.
    pub fn events(&self) -> &[Event] {
        &self.events
    }

    /// The choices of victims, in order.
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

    fn asks_scores(&self) -> bool {
        true
    }
}
