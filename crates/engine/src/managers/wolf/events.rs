//! What became of groups, for those who draw pictures.

/// One change of the groups or their space.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Event {
    /// Host pages written before it.
    pub host_pages: u64,
    pub kind: EventKind,
    /// Groups are numbered; the numbers of those merged away are used again.
    pub group: u8,
    /// Groups that there are from then on.
    pub groups: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventKind {
    /// A group began.
    Created,
    /// A group was merged into another.
    Merged { into: u8 },
    /// Movement operations: in the interval that ends here, the group gave so many blocks away.
    Moved { blocks: u32 },
}

impl EventKind {
    /// The word used in reports.
    pub fn name(self) -> &'static str {
        match self {
            EventKind::Created => "created",
            EventKind::Merged { .. } => "merged",
            EventKind::Moved { .. } => "moved",
        }
    }

    /// Blocks that movement operations took from the group.
    pub fn moved_blocks(self) -> u32 {
        if let EventKind::Moved { blocks } = self { blocks } else { 0 }
    }
}

/// A log of events holds no more, those during the fill included.
pub const MOST_EVENTS: usize = 100_000;

/// The first events, as many as memory should hold.
#[derive(Debug, Default)]
pub struct EventLog {
    events: Vec<Event>,
}

impl EventLog {
    pub fn note(&mut self, event: Event) {
        if self.events.len() < MOST_EVENTS {
            self.events.push(event);
        }
    }

    pub fn events(&self) -> &[Event] {
        &self.events
    }
}
