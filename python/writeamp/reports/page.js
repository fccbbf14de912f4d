// Interactive elements of a report: the button that copies Markdown, and sliders of the models.
"use strict";

const data = (id) => {
  const element = document.getElementById(id);
  return element && JSON.parse(element.textContent);
};

for (const button of document.querySelectorAll("button[data-copies]")) {
  button.addEventListener("click", async () => {
    const text = data(button.dataset.copies);
    let copied = true;
    try {
      await navigator.clipboard.writeText(text);
    } catch {
      // Browsers without a clipboard for local files may support this older command.
      const area = document.createElement("textarea");
      area.value = text;
      document.body.append(area);
      area.select();
      copied = document.execCommand("copy");
      area.remove();
    }
    document.getElementById("copied").textContent = copied ? "Copied." : "The browser does not allow copying.";
  });
}

// Model of each row of the table; values of sliders are s.op, s.hot and s.writes.
const ROWS = {
  "expected-value": (s) => models.expectedValue(s.op),
  "markov": (s) => models.markov(s.op, s.pages),
  "d-choices": (s) => models.dChoices(s.op / (1 + s.op), s.pages, 10),
  "greedy": (s) => models.dChoices(s.op / (1 + s.op), s.pages, Infinity),
  "cold-rests": (s) => models.expectedValue(models.effectiveOp(s.op, 1, s.hot)),
  "divided-best": (s) => models.dividedBest(s.op, s.hot, s.writes),
};

function whatIf(form) {
  const sliders = [...form.querySelectorAll("input[type=range]")];
  const pages = Number(form.dataset.pages);
  const charts = form.querySelectorAll("svg");
  const start = Number(form.dataset.op);

  function values() {
    const found = { pages };
    // The slider of op is logarithmic.
    for (const one of sliders) {
      const value = Number(one.value);
      found[one.name] = one.dataset.scale === "log" ? 10 ** value : value;
    }
    return found;
  }

  function show() {
    const now = values();
    for (const one of sliders) {
      const shown = now[one.name].toPrecision(3).replace(/\.?0+$/, "");
      form.querySelector(`output[for=${one.id}]`).textContent = shown;
      one.setAttribute("aria-valuetext", shown);
    }
    for (const cell of form.querySelectorAll("[data-row]")) {
      const row = ROWS[cell.dataset.row];
      const before = row({ ...now, op: start }), wa = row(now);
      cell.textContent = wa.toFixed(3);
      const change = 100 * (wa / before - 1);
      form.querySelector(`[data-change=${cell.dataset.row}]`).textContent =
        Math.abs(change) < 0.05 ? "–" : `${change > 0 ? "+" : "−"}${Math.abs(change).toFixed(1)}%`;
    }
    for (const chart of charts) draw(chart, now);
  }

  function draw(chart, now) {
    const [low, high, least, most, left, right, top, foot] = chart.dataset.axes.split(" ").map(Number);
    const x = (op) => left + (right - left) * Math.log(op / low) / Math.log(high / low);
    const y = (wa) => foot - (foot - top) * (wa - least) / (most - least);
    for (const curve of chart.querySelectorAll("[data-curve]")) {
      const points = [];
      for (let at = 0; at <= 80; at++) {
        const op = low * (high / low) ** (at / 80);
        const wa = ROWS[curve.dataset.curve]({ ...now, op });
        if (wa <= most) points.push(`${x(op).toFixed(1)},${y(wa).toFixed(1)}`);
      }
      curve.setAttribute("points", points.join(" "));
    }
    const here = chart.querySelector("[data-here]");
    const ends = { x1: x(now.op), x2: x(now.op), y1: top, y2: foot };
    for (const [name, at] of Object.entries(ends)) here.setAttribute(name, at);
  }

  form.addEventListener("input", show);
  form.querySelector("button").addEventListener("click", () => {
    form.reset();
    show();
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}

for (const form of document.querySelectorAll("form.what-if")) whatIf(form);
