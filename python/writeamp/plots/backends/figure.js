// Interaction of figures: values at the pointer, a legend that hides series, and zoom by rectangle.
"use strict";

(() => {
  const picture = document.getElementById("picture");
  const svg = picture.querySelector("svg");
  const [value, point, frame] = ["value", "point", "frame"].map((id) => document.getElementById(id));
  const whole = document.getElementById("whole");
  // Each value is [x, y, text, axes, series]; x and y are shares of the picture from the upper left.
  const values = JSON.parse(document.getElementById("values").textContent);
  const axes = JSON.parse(document.getElementById("axes").textContent);
  const [, , width, height] = svg.getAttribute("viewBox").split(" ").map(Number);
  const hidden = new Set();
  // Visible range of each axes: left, top, right, bottom, in shares of its box.
  const WHOLE = [0, 0, 1, 1];
  for (const one of axes) one.shown = WHOLE;

  // Series.
  for (const words of svg.querySelectorAll('[id^="legend-"][id$="-words"]')) {
    const at = words.id.split("-")[1];
    const parts = svg.querySelectorAll(`[id^="series-${at}-"]`);
    if (!parts.length) continue;
    const mark = svg.querySelector(`#legend-${at}-mark`);
    const turn = () => {
      const isHidden = !hidden.delete(Number(at)) && Boolean(hidden.add(Number(at)));
      for (const part of parts) part.classList.toggle("hidden", isHidden);
      for (const part of [words, mark]) part && (part.style.opacity = isHidden ? 0.35 : 1);
      words.setAttribute("aria-pressed", String(!isHidden));
    };
    words.setAttribute("role", "button");
    words.setAttribute("tabindex", "0");
    words.setAttribute("aria-pressed", "true");
    words.setAttribute("aria-label", words.textContent.trim().replace(/\s+/g, " "));
    words.addEventListener("click", turn);
    if (mark) mark.addEventListener("click", turn);
    words.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      turn();
    });
  }

  // Values.
  function placed([x, y, , at]) {
    const one = axes[at];
    if (!one) return [x, y];
    const [left, top, right, bottom] = one.box, [a, b, c, d] = one.shown;
    const across = ((x - left) / (right - left) - a) / (c - a);
    const down = ((y - top) / (bottom - top) - b) / (d - b);
    const isInside = across >= -1e-6 && across <= 1 + 1e-6 && down >= -1e-6 && down <= 1 + 1e-6;
    return isInside && [left + across * (right - left), top + down * (bottom - top)];
  }

  function tell(event) {
    const box = svg.getBoundingClientRect(), outer = picture.getBoundingClientRect();
    const x = event.clientX - box.left, y = event.clientY - box.top;
    let nearest = null, least = 40 * 40;
    for (const one of values) {
      const at = !hidden.has(one[4]) && placed(one);
      if (!at) continue;
      const distance = (at[0] * box.width - x) ** 2 + (at[1] * box.height - y) ** 2;
      if (distance < least) [least, nearest] = [distance, [at, one[2]]];
    }
    for (const part of [value, point]) part.style.display = nearest ? "block" : "none";
    if (!nearest) return;
    value.textContent = nearest[1];
    const left = nearest[0][0] * box.width + box.left - outer.left;
    const top = nearest[0][1] * box.height + box.top - outer.top;
    point.style.left = `${left}px`;
    point.style.top = `${top}px`;
    value.style.left = `${Math.max(0, Math.min(left + 12, outer.width - value.offsetWidth))}px`;
    value.style.top = `${Math.max(0, top - value.offsetHeight - 10)}px`;
  }

  // Zoom: the content of an axes is moved into a nested SVG with its own view box.
  const NS = "http://www.w3.org/2000/svg";
  function made(name, attributes, words) {
    const element = document.createElementNS(NS, name);
    for (const [key, one] of Object.entries(attributes)) element.setAttribute(key, one);
    if (words !== undefined) element.textContent = words;
    return element;
  }

  function prepare(one) {
    const group = document.getElementById(one.id);
    const [left, top, right, bottom] = one.box;
    one.place = [left * width, top * height, (right - left) * width, (bottom - top) * height];
    const [x, y, w, h] = one.place;
    one.view = made("svg", { x, y, width: w, height: h, preserveAspectRatio: "none" });
    const drawn = [...group.children].filter((part) => /^(data|series)-/.test(part.id));
    if (drawn.length) group.insertBefore(one.view, drawn[0]);
    one.view.append(...drawn);
    for (const part of one.view.querySelectorAll("[clip-path]")) part.removeAttribute("clip-path");
    for (const part of one.view.querySelectorAll("path")) {
      part.setAttribute("vector-effect", "non-scaling-stroke");
    }
    one.oldTicks = [...group.querySelectorAll('[id^="xtick"], [id^="ytick"]')];
    one.ticks = made("g", { "font-size": 10, fill: "#222" });
    group.insertBefore(one.ticks, one.view);
  }

  function redraw(one) {
    if (!one.view) prepare(one);
    const [x, y, w, h] = one.place, [a, b, c, d] = one.shown;
    one.view.setAttribute("viewBox", `${x + a * w} ${y + b * h} ${(c - a) * w} ${(d - b) * h}`);
    // Marks keep their size.
    for (const mark of one.view.querySelectorAll("use")) {
      const at = [mark.getAttribute("x") || 0, mark.getAttribute("y") || 0].map(Number);
      mark.setAttribute("transform",
        `translate(${at}) scale(${c - a} ${d - b}) translate(${-at[0]} ${-at[1]})`);
    }
    const isWhole = one.shown === WHOLE;
    for (const tick of one.oldTicks) tick.classList.toggle("hidden", !isWhole);
    one.ticks.replaceChildren(...(isWhole ? [] : newTicks(one)));
  }

  function* newTicks(one) {
    const [x, y, w, h] = one.place, [a, b, c, d] = one.shown;
    for (const [share, words] of round(one.x, one.xLog, a, c)) {
      const at = x + w * share;
      yield made("line", { x1: at, x2: at, y1: y, y2: y + h, stroke: "#e3e6ea" });
      yield made("text", { x: at, y: y + h + 14, "text-anchor": "middle" }, words);
    }
    // Shares of y increase downwards, values upwards.
    for (const [share, words] of round(one.y, one.yLog, 1 - d, 1 - b)) {
      const at = y + h * (1 - share);
      yield made("line", { x1: x, x2: x + w, y1: at, y2: at, stroke: "#e3e6ea" });
      yield made("text", { x: x - 6, y: at + 3.5, "text-anchor": "end" }, words);
    }
  }

  // Ticks at round values between two shares of an axis: share of the visible range, and label.
  function* round(ends, isLog, from, to) {
    const inner = isLog ? ends.map(Math.log10) : ends;
    const low = inner[0] + from * (inner[1] - inner[0]), high = inner[0] + to * (inner[1] - inner[0]);
    const back = (at) => (isLog ? 10 ** at : at), front = (at) => (isLog ? Math.log10(at) : at);
    const [first, last] = [back(low), back(high)];
    const unit = 10 ** Math.floor(Math.log10((last - first) / 5));
    const step = [1, 2, 5, 10].map((one) => one * unit).find((one) => one >= (last - first) / 5);
    for (let at = Math.ceil(first / step); at * step <= last; at++) {
      const words = String(Number((at * step).toPrecision(6)));
      yield [(front(at * step) - low) / (high - low), words];
    }
  }

  function show(one, shown) {
    one.shown = shown;
    redraw(one);
    for (const other of one.joined ? axes : []) {
      if (other === one) continue;
      const across = [shown[0], other.shown[1], shown[2], other.shown[3]];
      other.shown = shown === WHOLE ? WHOLE : across;
      redraw(other);
    }
    whole.disabled = axes.every((each) => each.shown === WHOLE);
  }

  let drag = null;
  function share(event) {
    const box = svg.getBoundingClientRect();
    return [(event.clientX - box.left) / box.width, (event.clientY - box.top) / box.height];
  }
  picture.addEventListener("pointerdown", (event) => {
    if (event.button || event.pointerType === "touch") return;
    const [x, y] = share(event);
    const one = axes.find(({ box }) => x >= box[0] && x <= box[2] && y >= box[1] && y <= box[3]);
    if (!one) return;
    drag = { one, x, y };
    event.preventDefault();
  });
  addEventListener("pointermove", (event) => {
    if (!drag) return;
    const box = svg.getBoundingClientRect(), outer = picture.getBoundingClientRect();
    const [left, top, right, bottom] = corners(event);
    Object.assign(frame.style, {
      display: "block",
      left: `${left * box.width + box.left - outer.left}px`,
      top: `${top * box.height + box.top - outer.top}px`,
      width: `${(right - left) * box.width}px`,
      height: `${(bottom - top) * box.height}px`,
    });
  });
  addEventListener("pointerup", (event) => {
    if (!drag) return;
    const one = drag.one, [left, top, right, bottom] = corners(event);
    frame.style.display = "none";
    drag = null;
    const box = svg.getBoundingClientRect();
    if ((right - left) * box.width < 8 || (bottom - top) * box.height < 8) return;
    const [x0, y0, x1, y1] = one.box, [a, b, c, d] = one.shown;
    const across = (x) => a + (x - x0) / (x1 - x0) * (c - a);
    const down = (y) => b + (y - y0) / (y1 - y0) * (d - b);
    show(one, [across(left), down(top), across(right), down(bottom)]);
  });
  // Rectangle from the start of the drag, limited to the axes.
  function corners(event) {
    const [x, y] = share(event), [x0, y0, x1, y1] = drag.one.box;
    const across = [drag.x, Math.min(Math.max(x, x0), x1)].sort((p, q) => p - q);
    const down = [drag.y, Math.min(Math.max(y, y0), y1)].sort((p, q) => p - q);
    return [across[0], down[0], across[1], down[1]];
  }
  document.getElementById("zoom").hidden = !axes.length;
  const all = () => axes.forEach((one) => one.shown !== WHOLE && show(one, WHOLE));
  whole.addEventListener("click", all);
  picture.addEventListener("dblclick", all);
  picture.addEventListener("pointermove", tell);
  picture.addEventListener("pointerleave", () => {
    for (const part of [value, point]) part.style.display = "none";
  });
})();
