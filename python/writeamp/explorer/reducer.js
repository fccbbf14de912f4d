"use strict";
// State of a drive after some of its events: each event changes a little, and nothing is simulated.

// Kinds of events, by the numbers of recording.py.
const PROGRAM = 0, ERASE = 1, OPEN = 2, VICTIM = 3, UNMAP = 4, GROUP_CREATED = 5, GROUP_MERGED = 6;
const HOST = 0;  // the first of the causes
const FREE = 0, VALID = 1, INVALID = 2;
const NOWHERE = -1;

function newDrive(recording) {
  const pages = recording.blocks * recording.pages_per_block;
  return {
    map: new Array(recording.logical_pages).fill(NOWHERE),  // physical page of each logical page
    data: new Array(pages).fill(NOWHERE),        // logical page of each physical page
    state: new Array(pages).fill(FREE),          // of each physical page
    copied: new Array(pages).fill(false),        // programmed by collection, not for the host
    written: new Array(recording.logical_pages).fill(0),  // host writes before its last write
    writes: new Array(recording.logical_pages).fill(0),   // times that the host wrote it
    stream: new Array(recording.blocks).fill(NOWHERE),    // whose pages a block holds
    erases: new Array(recording.blocks).fill(0),
    buffer: new Set(),                           // logical pages that are being moved
    programs: new Array(recording.causes.length).fill(0),
    before: 0,                                   // programs until the first fill was complete
    hostPages: 0,
    victims: [],                                 // chosen and not yet erased
    lastChoice: null,                            // {block, choice}: the last victim
    last: null,                                  // the last event, and what a sentence needs of it
  };
}

function reduce(drive, event, recording) {
  const [kind, first, second, third] = event;
  const perBlock = recording.pages_per_block;
  const last = { kind, first, second, third };
  if (kind === PROGRAM) {
    const page = first, logical = second, cause = third;
    last.from = drive.map[logical] ?? NOWHERE;
    last.buffered = drive.buffer.delete(logical);
    if (last.from !== NOWHERE) drive.state[last.from] = INVALID;
    drive.programs[cause] += 1;
    drive.copied[page] = cause !== HOST;
    if (logical === undefined || logical >= recording.logical_pages) {
      drive.state[page] = INVALID;  // padding
    } else {
      drive.map[logical] = page;
      drive.data[page] = logical;
      drive.state[page] = VALID;
    }
    if (cause === HOST) {
      drive.written[logical] = drive.hostPages;
      drive.writes[logical] += 1;
      drive.hostPages += 1;
      if (drive.hostPages === recording.filled) drive.before = sum(drive.programs);
    }
  } else if (kind === ERASE) {
    last.stream = drive.stream[first];
    drive.victims = drive.victims.filter((block) => block !== first);
    for (let page = first * perBlock; page < (first + 1) * perBlock; page += 1) {
      if (drive.state[page] === VALID) {  // read before, and programmed later
        drive.buffer.add(drive.data[page]);
        drive.map[drive.data[page]] = NOWHERE;
      }
      drive.state[page] = FREE;
      drive.data[page] = NOWHERE;
    }
    drive.stream[first] = NOWHERE;
    drive.erases[first] += 1;
  } else if (kind === OPEN) {
    drive.stream[first] = second ?? NOWHERE;
  } else if (kind === VICTIM) {
    last.beside = drive.victims.at(-1);
    drive.victims.push(first);
    drive.lastChoice = { block: first, choice: second };
    last.valid = countPages(drive, recording, first, VALID);
  } else if (kind === UNMAP) {
    last.from = drive.map[first];
    drive.state[last.from] = INVALID;
    drive.map[first] = NOWHERE;
  } else if (kind === GROUP_MERGED) {
    drive.stream = drive.stream.map((stream) => (stream === first ? second : stream));
  }
  drive.last = last;
}

function sum(numbers) {
  return numbers.reduce((total, one) => total + one, 0);
}

function countPages(drive, recording, block, state) {
  const first = block * recording.pages_per_block;
  return drive.state.slice(first, first + recording.pages_per_block)
    .filter((one) => one === state).length;
}

// Write amplification since the first fill; 1 until then.
function waOf(drive, recording) {
  const host = drive.hostPages - recording.filled;
  if (host <= 0) return 1;
  return (sum(drive.programs) - drive.before) / host;
}

// Place of the first event of each host write; its own program is the last of its events.
function startsOf(recording) {
  const starts = [0];
  recording.events.forEach(([kind, , , cause], at) => {
    if (kind === PROGRAM && cause === HOST) starts.push(at + 1);
  });
  return starts;
}

// Write amplification after each host write from the fill on.
function waSeries(recording) {
  const drive = newDrive(recording), series = [];
  for (const event of recording.events) {
    reduce(drive, event, recording);
    const isWrite = event[0] === PROGRAM && event[3] === HOST;
    if (isWrite && drive.hostPages > recording.filled) series.push(waOf(drive, recording));
  }
  return series;
}

// A recording with a place in it: forward is quick, and back begins anew.
class Walk {
  constructor(recording) {
    this.recording = recording;
    this.starts = startsOf(recording);
    this.series = waSeries(recording);
    this.reset();
  }

  reset() {
    this.drive = newDrive(this.recording);
    this.at = 0;
  }

  // Events that belong to a host write.
  stepsOf(write) {
    if (write >= this.starts.length) return 0;
    const end = this.starts[write + 1] ?? this.recording.events.length;
    return end - this.starts[write];
  }

  // Goes to where so many writes are done, and so many events of the next.
  go(write, step) {
    const start = this.starts[Math.min(write, this.starts.length - 1)];
    const at = start + Math.min(step, this.stepsOf(write));
    if (at < this.at) this.reset();
    while (this.at < at) {
      reduce(this.drive, this.recording.events[this.at], this.recording);
      this.at += 1;
    }
  }
}
