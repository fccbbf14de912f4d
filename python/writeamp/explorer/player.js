"use strict";
// The page: one player, which is moved to the chapter that is open, and what drives it.

const SPEEDS = [1, 2, 4, 8, 15, 30, 60, 120, 250, 500];  // events a second

const found = (id) => document.getElementById(id);
const data = (id) => JSON.parse(found(id).textContent);
const recordings = data("recordings");
const scenes = data("scenes");
const walkOf = {};

let walks = [];
let scene = null;
let write = 0, step = 0;     // host writes that are done, and events of the next one
let playing = false, lastFrame = 0, owed = 0, until = Infinity;

function walk(name) {
  walkOf[name] ??= new Walk(recordings[name]);
  return walkOf[name];
}

function writesOf(walk) {
  return walk.starts.length - 1;
}

function total() {
  return Math.max(...walks.map(writesOf));
}

function steps(write) {
  return Math.max(...walks.map((walk) => walk.stepsOf(write)));
}

// One event onwards; false at the end.
function forward() {
  if (step + 1 < steps(write)) {
    step += 1;
  } else if (write < total()) {
    write += 1;
    step = 0;
  } else {
    return false;
  }
  walks.forEach((walk) => walk.go(write, step));
  return true;
}

function back() {
  if (step > 0) {
    step -= 1;
  } else if (write > 0) {
    write -= 1;
    step = Math.max(0, steps(write) - 1);
  }
}

function nextWrite() {
  if (write < total()) [write, step] = [write + 1, 0];
}

// Onwards until a victim has just been chosen.
function nextCollection() {
  const chosen = () => walks.map((walk) => walk.drive.lastChoice?.choice ?? -1).join();
  const before = chosen();
  while (forward()) {
    if (chosen() !== before) return;
  }
}

function show() {
  walks.forEach((walk) => walk.go(write, step));
  const colouring = COLOURINGS[found("colouring").value];
  walks.forEach((walk, which) => showDrive(walk, which, colouring));
  const legends = walks.flatMap((walk) => colouring.legend(walk.drive, walk.recording));
  const unique = [...new Map(legends.map((one) => [one.join(), one])).values()];
  found("legend").innerHTML = [...unique, ["invalid", "invalid"], ["free", "free"]]
    .map(([kind, text]) => `<li>${swatch(kind)}${escaped(text)}</li>`).join("");
  found("series").innerHTML = drawSeries(walks, write - walks[0].recording.filled);
  found("place").max = total();
  found("place").value = write;
  found("place-text").textContent = `${write} of ${total()}`;
  found("play").textContent = playing ? "Pause" : "Play";
  found("play").setAttribute("aria-pressed", playing);
}

function swatch(kind) {
  const hatch = kind === "invalid" ? '<path class="hatch" d="M3,11l8,-8"/>' : "";
  return `<svg width="14" height="14" aria-hidden="true"><rect class="page ${kind}" x="1" y="1" `
    + `width="12" height="12"/>${hatch}</svg>`;
}

function showDrive(walk, which, colouring) {
  const { drive, recording } = walk;
  const box = found(`drive-${which}`);
  const part = (name) => box.querySelector(`.${name}`);
  part("picture").innerHTML = drawDrive(drive, recording, colouring);
  part("sentence").setAttribute("aria-live", playing ? "off" : "polite");
  part("sentence").textContent = sentence(drive, recording);
  part("causes").innerHTML = causes(drive, recording);
  part("choice").innerHTML = choice(drive, recording);
}

// Programs by cause since the fill, and what they make.
function causes(drive, recording) {
  const host = Math.max(0, drive.hostPages - recording.filled);
  if (host === 0) return `<strong>WA</strong> is counted from the first fill on.`;
  const copies = sum(drive.programs) - drive.before - host;
  const bar = [["c-host", host], ["c-copy", copies]].map(([kind, pages]) =>
    `<span class="${kind}" style="flex-grow:${pages}"></span>`).join("");
  return `<strong>WA ${waOf(drive, recording).toFixed(2)}</strong> = (${host} by the host + `
    + `${copies} copies) / ${host}<span class="bar" aria-hidden="true">${bar}</span>`;
}

// The last choice of a victim, with the scores of those that were looked at.
function choice(drive, recording) {
  if (!drive.lastChoice) return "<p>No victim has been chosen yet.</p>";
  const { block, choice } = drive.lastChoice;
  const [measure, count, scores] = recording.choices[choice];
  const word = drive.victims.includes(block) ? "Victim" : "Last victim";
  if (scores.length === 0) return `<p>${word}: block ${block}, by ${escaped(measure || "a policy without scores")}.</p>`;
  const most = Math.max(...scores.map(([, score]) => score ?? 0), 1e-9);
  const row = ([of, score]) => `<tr><th scope="row">block ${of}</th><td class="number">`
    + `${score === null ? "∞" : score}</td><td class="score"><span class="${of === block ? "chosen" : ""}" `
    + `style="width:${score === null ? 100 : 100 * score / most}%"></span></td></tr>`;
  const some = count > scores.length ? `; the best ${scores.length} of ${count} candidates`
    : `; ${count} candidate${count === 1 ? "" : "s"}`;
  return `<table><caption>${word}: block ${block}. Score: ${escaped(measure)}${some}.</caption>`
    + `<tbody>${scores.map(row).join("")}</tbody></table>`;
}

function open(id) {
  const wanted = scenes[id] ? id : "chapter-1";
  for (const article of document.querySelectorAll("article")) article.hidden = article.id !== wanted;
  for (const link of document.querySelectorAll("nav a")) {
    if (link.hash === `#${wanted}`) link.setAttribute("aria-current", "page");
    else link.removeAttribute("aria-current");
  }
  const article = found(wanted);
  article.querySelector(".slot").append(found("player"));
  scene = scenes[wanted];
  walks = scene.recordings.map(walk);
  found("drives").className = walks.length === 2 ? "two" : "one";
  found("drive-1").hidden = walks.length === 1;
  walks.forEach(({ recording }, which) => {
    const box = found(`drive-${which}`);
    box.querySelector("h3").textContent = recording.name;
    box.querySelector(".policy").textContent = `manager ${recording.manager}, victims `
      + `${recording.victims}, op ${recording.op.toFixed(2)}`;
  });
  found("workload").textContent = `workload ${walks[0].recording.workload}`;
  found("series-names").innerHTML = walks.map(({ recording }, which) =>
    `<span class="line wa${which + 1}"></span> ${escaped(recording.name)}`).join(" &nbsp; ");
  found("colouring").value = scene.colouring;
  restart();
}

function restart() {
  pause();
  [write, step] = [scene.write, scene.step];
  show();
}

function pause() {
  playing = false;
}

function toggle() {
  playing = !playing;
  // At the end there is nothing to play: the whole run begins anew, after the first fill.
  if (playing && write >= total()) [write, step] = [walks[0].recording.filled, 0];
  const end = scene.write + scene.plays;
  until = scene.plays > 0 && write >= scene.write && write < end ? end : Infinity;
  lastFrame = performance.now();
  owed = 0;
  show();
  if (playing) requestAnimationFrame(frame);
}

function frame(now) {
  if (!playing) return;
  owed += Math.min(now - lastFrame, 500) / 1000 * SPEEDS[found("speed").value];
  lastFrame = now;
  while (owed >= 1 && playing) {
    owed -= 1;
    if (!forward() || write >= until) pause();
  }
  show();
  if (playing) requestAnimationFrame(frame);
}

function faster(by) {
  const speed = found("speed");
  speed.value = Number(speed.value) + by;
  showSpeed();
}

function showSpeed() {
  found("speed-text").textContent = `${SPEEDS[found("speed").value]} events a second`;
}

// What stops the player first, and shows where it is afterwards.
function stopped(action) {
  return () => {
    pause();
    action();
    show();
  };
}

const KEYS = {
  " ": toggle, ArrowRight: stopped(forward), ArrowLeft: stopped(back), w: stopped(nextWrite),
  n: stopped(nextCollection), r: restart, "+": () => faster(1), "-": () => faster(-1),
};

found("play").onclick = toggle;
found("forward").onclick = stopped(forward);
found("back").onclick = stopped(back);
found("write").onclick = stopped(nextWrite);
found("collection").onclick = stopped(nextCollection);
found("restart").onclick = restart;
found("speed").oninput = showSpeed;
found("colouring").innerHTML = Object.entries(COLOURINGS)
  .map(([name, one]) => `<option value="${name}">${one.name}</option>`).join("");
found("colouring").onchange = show;
found("place").oninput = stopped(() => { [write, step] = [Number(found("place").value), 0]; });
document.addEventListener("keydown", (event) => {
  const isOwn = event.target.closest("input, select, textarea, button, summary, a");
  if (isOwn || event.ctrlKey || event.altKey || event.metaKey || !KEYS[event.key]) return;
  event.preventDefault();
  KEYS[event.key]();
});
window.addEventListener("hashchange", () => {
  open(location.hash.slice(1));
  found(location.hash.slice(1) in scenes ? location.hash.slice(1) : "chapter-1").querySelector("h2").focus();
});
showSpeed();
open(location.hash.slice(1));
