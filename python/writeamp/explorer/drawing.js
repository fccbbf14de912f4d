"use strict";
// Pictures of a drive: a string of SVG, and the words beside it. Nothing here changes anything.

const CELL = 12, GAP = 10, HEAD = 15;

// Classes of a page for each colouring, the last the youngest or hottest.
const AGES = [3, 1, 0.3, 0.1];
const HEATS = [0.5, 1, 2, 4];
const COLOURINGS = {
  origin: {
    name: "who wrote it here",
    legend: () => [["c-host", "written by the host"], ["c-copy", "copied by garbage collection"]],
    of: (drive, recording, page) => (drive.copied[page] ? "c-copy" : "c-host"),
  },
  owner: {
    name: "owner (stream of its block)",
    legend: (drive, recording) => [...new Set(drive.stream)].filter((one) => one !== NOWHERE)
      .sort((one, other) => one - other)
      .map((one) => [ownerClass(one), streamName(recording, one)]),
    of: (drive, recording, page) => ownerClass(drive.stream[blockOf(recording, page)]),
  },
  heat: {
    name: "temperature (how often it is written)",
    legend: () => [["h0", "cold: less than half the mean"], ["h1", ""], ["h2", "mean"],
      ["h3", ""], ["h4", "hot: over 4 times the mean"]],
    of: (drive, recording, page) => {
      const times = drive.writes[drive.data[page]] * recording.logical_pages / drive.hostPages;
      return `h${HEATS.filter((bound) => times >= bound).length}`;
    },
  },
  age: {
    name: "age (since the host wrote it)",
    legend: () => [["h0", "over 3 drive writes old"], ["h1", ""], ["h2", ""], ["h3", ""],
      ["h4", "under 0.1 drive writes old"]],
    of: (drive, recording, page) => {
      const age = (drive.hostPages - drive.written[drive.data[page]]) / recording.logical_pages;
      return `h${AGES.filter((bound) => age <= bound).length}`;
    },
  },
};

function ownerClass(stream) {
  return stream === NOWHERE ? "o0" : `o${stream % 7 + 1}`;
}

function streamName(recording, stream) {
  if (stream === NOWHERE) return "";
  if (recording.is_grouped) return `group ${stream + 1}`;
  return recording.streams[stream] ?? `stream ${stream + 1}`;
}

function blockOf(recording, page) {
  return Math.floor(page / recording.pages_per_block);
}

function isOpen(drive, recording, block) {
  return drive.stream[block] !== NOWHERE && countPages(drive, recording, block, FREE) > 0;
}

// The drive as SVG: its blocks in rows, the pages of each in a square.
function drawDrive(drive, recording, colouring) {
  const perBlock = recording.pages_per_block;
  const across = Math.ceil(Math.sqrt(perBlock)), down = Math.ceil(perBlock / across);
  const columns = recording.blocks <= 30 ? 6 : 8;
  const wide = across * CELL + GAP, high = down * CELL + HEAD + GAP;
  const rows = Math.ceil(recording.blocks / columns);
  const left = (block) => (block % columns) * wide + GAP / 2;
  const top = (block) => Math.floor(block / columns) * high + HEAD;
  const corner = (page) => {
    const block = blockOf(recording, page), place = page % perBlock;
    return [left(block) + (place % across) * CELL, top(block) + Math.floor(place / across) * CELL];
  };
  const blocks = [];
  for (let block = 0; block < recording.blocks; block += 1) {
    const isVictim = drive.victims.includes(block);
    const mark = isVictim ? "victim" : isOpen(drive, recording, block) ? "open" : "";
    blocks.push(`<rect class="block ${mark}" x="${left(block) - 2}" y="${top(block) - 2}" `
      + `width="${across * CELL + 3}" height="${down * CELL + 3}" rx="2"/>`
      + `<text x="${left(block)}" y="${top(block) - 5}">${block}</text>`);
    if (mark) {
      blocks.push(`<text class="note ${mark}" x="${left(block) + across * CELL}" y="${top(block) - 5}" `
        + `text-anchor="end">${mark}</text>`);
    }
  }
  const squares = {};  // one path for all pages that look alike
  const hatch = [];
  drive.state.forEach((state, page) => {
    const [x, y] = corner(page);
    const kind = state === VALID ? colouring.of(drive, recording, page)
      : state === INVALID ? "invalid" : "free";
    (squares[kind] ??= []).push(`M${x},${y}h${CELL - 1}v${CELL - 1}h${1 - CELL}z`);
    if (state === INVALID) hatch.push(`M${x + 2},${y + CELL - 3}l${CELL - 5},${5 - CELL}`);
  });
  const pages = Object.keys(squares).sort()
    .map((kind) => `<path class="page ${kind}" d="${squares[kind].join("")}"/>`);
  const frames = framed(drive).map(([kind, page]) => {
    const [x, y] = corner(page);
    return `<rect class="${kind}" x="${x}" y="${y}" width="${CELL - 1}" height="${CELL - 1}"/>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" class="drive" role="img" `
    + `viewBox="0 0 ${columns * wide} ${rows * high}" aria-label="${summary(drive, recording)}">`
    + `${blocks.join("")}${pages.join("")}<path class="hatch" d="${hatch.join("")}"/>`
    + `${frames.join("")}</svg>`;
}

// Pages that the last event was about: the one that was programmed, and its old version.
function framed(drive) {
  if (!drive.last || (drive.last.kind !== PROGRAM && drive.last.kind !== UNMAP)) return [];
  const { kind, first, from, buffered } = drive.last;
  const now = kind === PROGRAM ? [["now", first]] : [];
  return from === NOWHERE || from === undefined || buffered ? now : [...now, ["lost", from]];
}

// The drive in a sentence, for those who do not see it.
function summary(drive, recording) {
  const count = (state) => drive.state.filter((one) => one === state).length;
  return `${count(VALID)} valid pages, ${count(INVALID)} invalid, ${count(FREE)} free, in `
    + `${recording.blocks} blocks of ${recording.pages_per_block}`;
}

// The last event in a sentence.
function sentence(drive, recording) {
  const last = drive.last;
  if (!last) return "The drive is new: every page is free.";
  const { kind, first, second, third, from } = last;
  const at = (page) => `block ${blockOf(recording, page)}`;
  if (kind === PROGRAM && third === HOST) {
    const old = from === NOWHERE ? "It had no data before."
      : `Its old version in ${at(from)} is invalid now.`;
    return `The host writes page ${second}: it goes to ${at(first)}. ${old}`;
  }
  if (kind === PROGRAM) {
    const cause = recording.causes[third] === "gc" ? "" : ` (${recording.causes[third]})`;
    const source = last.buffered ? "out of the controller's memory" : `out of ${at(from)}`;
    return from === NOWHERE && !last.buffered ? `Padding in ${at(first)}.`
      : `Page ${second} is still valid: it is copied ${source} to ${at(first)}${cause}.`;
  }
  if (kind === ERASE) {
    const waiting = drive.buffer.size;
    const rest = waiting ? ` The ${waiting} that were valid wait in the controller's memory.` : "";
    return `Block ${first} is erased: all of its pages are free.${rest}`;
  }
  if (kind === OPEN) {
    const name = second === undefined ? "" : streamName(recording, second);
    const whom = name && recording.streams.length !== 1 ? ` for ${name}` : "";
    return `Block ${first} is opened${whom}: the next pages go there.`;
  }
  if (kind === VICTIM) {
    const why = last.beside === undefined
      ? `Room is needed: block ${first} is chosen for collection.`
      : `Block ${first} is chosen too: it and block ${last.beside} exchange their kinds.`;
    return `${why} ${last.valid} of its ${recording.pages_per_block} pages are valid and must be copied.`;
  }
  if (kind === UNMAP) return `The host trims page ${first}: its data are not needed any more.`;
  if (kind === GROUP_CREATED) return `A new group begins: group ${first + 1}.`;
  return `Group ${first + 1} is merged into group ${second + 1}.`;
}

// The write amplification so far as SVG: each drive a line, the place in them a dot.
function drawSeries(walks, at) {
  const wide = 320, high = 70, length = Math.max(...walks.map((walk) => walk.series.length), 2);
  const most = Math.max(1.5, ...walks.flatMap((walk) => walk.series.slice(50)));
  const x = (place) => 30 + (wide - 40) * place / (length - 1);
  const y = (wa) => high - 14 - (high - 22) * (Math.min(wa, most) - 1) / (most - 1);
  const parts = [1, most].map((wa) => `<line class="grid" x1="30" x2="${wide - 10}" y1="${y(wa)}" `
    + `y2="${y(wa)}"/><text x="26" y="${y(wa) + 4}" text-anchor="end">${wa.toFixed(1)}</text>`);
  walks.forEach((walk, which) => {
    const every = Math.max(1, Math.floor(walk.series.length / 200));
    const points = walk.series.map((wa, place) => [place, wa])
      .filter(([place]) => place % every === 0)
      .map(([place, wa]) => `${x(place).toFixed(1)},${y(wa).toFixed(1)}`);
    parts.push(`<polyline class="wa wa${which + 1}" points="${points.join(" ")}"/>`);
    const place = Math.min(at, walk.series.length) - 1;
    if (place >= 0) {
      parts.push(`<circle class="wa${which + 1}" cx="${x(place)}" cy="${y(walk.series[place])}" r="4"/>`);
    }
  });
  const label = "write amplification after each host write: "
    + walks.map((walk) => `${walk.recording.name} ends at ${(walk.series.at(-1) ?? 1).toFixed(2)}`).join(", ");
  return `<svg xmlns="http://www.w3.org/2000/svg" class="series" role="img" viewBox="0 0 ${wide} ${high}" `
    + `aria-label="${escaped(label)}">${parts.join("")}</svg>`;
}

function escaped(text) {
  const names = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
  return String(text).replace(/[&<>"]/g, (sign) => names[sign]);
}
