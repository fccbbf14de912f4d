// Analytic models of write amplification, ported from `writeamp.models` and `writeamp.allocation`.
// A test compares each with the library on 1,000 points, to 1e-9.
"use strict";

const models = (() => {
  // Coefficients of h², h⁴, … in h·coth(h) − 1.
  const SERIES = [1 / 3, -1 / 45, 2 / 945, -1 / 4725, 2 / 93555, -1382 / 638512875];

  // h·coth(h) − 1 and its derivative, for h > 0; near 0 by the series, without loss of digits.
  function excess(h) {
    if (h >= 0.25) {
      const coth = 1 / Math.tanh(h);
      return [h * coth - 1, coth - h * (coth * coth - 1)];
    }
    let value = 0, slope = 0;
    for (let power = SERIES.length; power > 0; power--) {
      value = value * h * h + SERIES[power - 1];
      slope = slope * h * h + 2 * power * SERIES[power - 1];
    }
    return [value * h * h, slope * h];
  }

  // The h = −ln(δ)/2 of a victim's valid share δ at an op: the root of h + (h·coth(h) − 1) = op.
  function halfLogOfShare(op) {
    let h = Math.min(op, 0.5 + 0.5 * op);
    for (let step = 0; step < 6; step++) {
      const [value, slope] = excess(h);
      h -= (h + value - op) / (1 + slope);
    }
    return h;
  }

  // Park et al. 2017, eq. 5: exact for FIFO collection of uniform random writes.
  function expectedValue(op) {
    return -1 / Math.expm1(-2 * halfLogOfShare(op));
  }

  // Park et al. 2017, eq. 4.
  function uniformDistribution(op) {
    return 0.5 + 0.5 / op;
  }

  // Park et al. 2017, eqs. 6-7: greedy collection.
  function markov(op, pagesPerBlock) {
    const half = 0.5 / pagesPerBlock;
    return expectedValue(op + (1 + op) * half) / (1 + half);
  }

  // Van Houdt 2013: the emptiest of d blocks; Infinity is greedy collection.
  function dChoices(spareFactor, pagesPerBlock, d) {
    if (d === 1) return 1 / spareFactor;
    const fill = 1 - spareFactor;
    if (d === Infinity) return Math.max(1, 1 / (fill * greedyRate(spareFactor, pagesPerBlock)));
    // Bounds: random collection, and no amplification.
    const rate = root(
      (log) => surplus(Math.exp(log), spareFactor, pagesPerBlock, d),
      Math.log(spareFactor / fill) - 1e-9, -Math.log(fill) + 1e-9,
    );
    return Math.max(1, 1 / (fill * Math.exp(rate)));
  }

  // The root of a function that increases from `low` to `high`, by the Illinois algorithm.
  function root(rising, low, high) {
    let below = rising(low), above = rising(high), x = low, side = 0;
    for (let step = 0; step < 200 && high - low > 1e-15; step++) {
      x = (low * above - high * below) / (above - below);
      const value = rising(x);
      if (value === 0 || x <= low || x >= high) break;
      if (value > 0) {
        [high, above] = [x, value];
        if (side > 0) below /= 2;
      } else {
        [low, below] = [x, value];
        if (side < 0) above /= 2;
      }
      side = Math.sign(value);
    }
    return x;
  }

  // The logarithm of the sum of the levels e_1 … e_N at a rate λ over the drive's vacant pages.
  function surplus(rate, spareFactor, pages, d) {
    const fill = 1 - spareFactor;
    let above = 1, sum = 0, chances = 0;
    for (let i = pages; i > 0; i--) {
      const level = levelBelow(above, rate * i, d);
      sum += level;
      chances -= missed(level, d);
      above = level;
    }
    // On an almost empty drive the levels round to 1, but their complements do not.
    return Math.log(spareFactor <= fill ? sum / (pages * spareFactor) : rate * pages * fill / chances);
  }

  // The level e below `above`, the root of flow·(above − e) = 1 − (1 − e)^d; Newton's method from greedy's.
  function levelBelow(above, flow, d) {
    let level = Math.max(0, above - 1 / flow);
    for (let step = 0; step < 100; step++) {
      const miss = missed(level, d);
      const change = (flow * (above - level) + miss) / (flow + d * (1 + miss) / (1 - level));
      level = Math.min(Math.max(level + change, 0), 1 - Number.EPSILON / 2);
      // The next error is about the square of this one.
      if (Math.abs(change) <= 1e-10 * Math.min(level, 1 - level)) break;
    }
    return level;
  }

  function missed(level, d) {
    return Math.expm1(d * Math.log1p(-level));
  }

  // The λ at which greedy levels sum to the vacant pages: a line in λ between two departures.
  function greedyRate(spareFactor, pages) {
    const vacant = pages * spareFactor, valid = pages * (1 - spareFactor);
    let tail = 0, sum = 0;
    for (let i = pages; i > 0; i--) {
      tail += 1 / i;
      sum += tail;
      const levels = pages - i + 1;
      const nextTail = i > 1 ? tail + 1 / (i - 1) : Infinity;
      const sumAtNext = i > 1 ? levels + 1 - (sum + nextTail) / nextTail : Infinity;
      if (sumAtNext >= vacant) return sum / (valid - (pages - levels));
    }
    return NaN;
  }

  // Park et al. 2017, eq. 8: the effective op of hot pages if cold data is never written.
  function effectiveOp(op, utilization, hotRatio) {
    return (1 - utilization + op) / hotRatio;
  }

  // Dayan et al. 2015, eqs. 3-5: hot and cold pages separated, optimal division of spare space.
  // With δ = e^(−2h) of each group, Lagrange's condition is e^2h − 1 − 2h = μ·p/s.
  function dividedBest(op, hotPages, hotWrites) {
    const sizes = [hotPages, 1 - hotPages], writes = [hotWrites, 1 - hotWrites];
    const halves = (log) => writes.map((p, x) => halfLogOf(Math.exp(log) * p / sizes[x]));
    const used = (h) => sizes.reduce((sum, s, x) => sum + s * (h[x] + excess(h[x])[0]), 0);
    const h = halves(root((log) => Math.log(used(halves(log)) / op), -80, 80));
    return writes.reduce((sum, p, x) => sum - p / Math.expm1(-2 * h[x]), 0);
  }

  // The h of e^2h − 1 − 2h = target, by Newton's method on its logarithm, which increases in ln h.
  function halfLogOf(target) {
    const cost = (h) => h < 0.02
      ? 2 * h * h * (1 + 2 * h / 3 * (1 + h / 2 * (1 + 2 * h / 5 * (1 + h / 3 * (1 + 2 * h / 7)))))
      : Math.expm1(2 * h) - 2 * h;
    let h = Math.min(Math.sqrt(target / 2), 0.5 * Math.log1p(target) + 0.5);
    for (let step = 0; step < 60; step++) {
      const now = cost(h);
      const change = Math.log(now / target) * now / (2 * Math.expm1(2 * h));
      h = Math.max(h - change, h / 4);
      if (Math.abs(change) <= 1e-10 * h) break;
    }
    return h;
  }

  return {
    expectedValue, uniformDistribution, markov, dChoices, effectiveOp, dividedBest,
  };
})();
