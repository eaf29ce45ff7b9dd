// SVG charts: line charts, the evaluation graph of a game, and board diagrams.

import { make } from "./dom.js";

/// Charts are smaller on narrow screens, so that their text stays readable.
export const narrow = () => innerWidth < 600;

/// Returns about `count` evenly spaced round numbers within [low, high].
export function ticks(low, high, count = 5) {
  if (!(high > low)) return [low];
  const rough = (high - low) / count;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 5, 10].map((x) => x * power).find((x) => x >= rough);
  const found = [];
  for (let x = Math.ceil(low / step) * step; x <= high + step * 1e-9; x += step) found.push(Math.abs(x) < step * 1e-9 ? 0 : x);
  return found;
}

const brief = (x) => (Math.abs(x) >= 1e6 ? `${+(x / 1e6).toPrecision(3)}M` : Math.abs(x) >= 1e4 ? `${+(x / 1e3).toPrecision(3)}k` : String(+x.toPrecision(4)));

/// Draws a line chart with one line per series; a series is `{ name, points: [[x, y, error?]] }`.
export function lineChart(series, { title, x = "", y = "", width = narrow() ? 340 : 640, height = narrow() ? 220 : 280 } = {}) {
  const all = series.flatMap((one) => one.points);
  const box = { left: 48, right: 20, top: y ? 28 : 10, bottom: 34 };
  const range = (values) => {
    let low = Math.min(...values), high = Math.max(...values);
    if (low === high) { low -= 1; high += 1; }
    return [low, high];
  };
  if (!all.length) return make("p", { class: "hint" }, "No data yet.");
  const [x0, x1] = range(all.map((p) => p[0]));
  const [l, h] = range(all.flatMap((p) => [p[1] - (p[2] ?? 0), p[1] + (p[2] ?? 0)]));
  const pad = 0.05 * (h - l);
  const [y0, y1] = [l - pad, h + pad];
  const px = (v) => box.left + ((v - x0) / (x1 - x0)) * (width - box.left - box.right);
  const py = (v) => height - box.bottom - ((v - y0) / (y1 - y0)) * (height - box.top - box.bottom);
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": y ? `${title}: ${y}` : title, width: "100%", style: `max-width:${1.3 * width}px` });
  for (const v of ticks(y0, y1)) {
    svg.append(make("line", { x1: box.left, x2: width - box.right, y1: py(v), y2: py(v), stroke: "var(--rule)" }),
      make("text", { x: box.left - 8, y: py(v) + 4, "text-anchor": "end", "font-size": 12, fill: "var(--soft)" }, brief(v)));
  }
  for (const v of ticks(x0, x1, width < 400 ? 3 : 6)) {
    svg.append(make("text", { x: px(v), y: height - 16, "text-anchor": "middle", "font-size": 12, fill: "var(--soft)" }, brief(v)));
  }
  svg.append(make("text", { x: width - box.right, y: height - 2, "text-anchor": "end", "font-size": 12, fill: "var(--soft)" }, x));
  if (y) svg.append(make("text", { x: 4, y: 14, "font-size": 12, fill: "var(--soft)" }, y));
  series.forEach((one, index) => {
    const color = `var(--c${(index % 6) + 1})`;
    if (one.points.some((p) => p[2])) {
      const up = one.points.map((p) => `${px(p[0])},${py(p[1] + (p[2] ?? 0))}`);
      const down = one.points.map((p) => `${px(p[0])},${py(p[1] - (p[2] ?? 0))}`).reverse();
      svg.append(make("polygon", { points: [...up, ...down].join(" "), fill: color, opacity: 0.15 }));
    }
    svg.append(make("polyline", { points: one.points.map((p) => `${px(p[0])},${py(p[1])}`).join(" "), fill: "none", stroke: color, "stroke-width": 2, "stroke-linejoin": "round" }));
    if (one.points.length < 30) for (const p of one.points) svg.append(make("circle", { cx: px(p[0]), cy: py(p[1]), r: 3, fill: color }));
  });
  const legend = make("p", { class: "hint" }, series.map((one, index) => make("span", { style: "margin-right:16px;white-space:nowrap" },
    make("span", { style: `display:inline-block;width:12px;height:3px;vertical-align:middle;margin-right:6px;background:var(--c${(index % 6) + 1})` }), one.name)));
  return make("div", {}, svg, series.length > 1 || series[0].name ? legend : null);
}

/// Marks of graded moves: their shapes differ as well as their colors.
const MARKS = {
  inaccuracy: (x, y) => make("rect", { x: x - 3, y: y - 3, width: 6, height: 6 }),
  mistake: (x, y) => make("circle", { cx: x, cy: y, r: 4.2 }),
  blunder: (x, y) => make("polygon", { points: `${x},${y - 6} ${x + 6},${y} ${x},${y + 6} ${x - 6},${y}` }),
};

/// Draws the evaluation graph: the value for Black after each move.
export function evaluationGraph(points, { plies, currentPly, unit, onPick }) {
  const width = narrow() ? 330 : 520, height = 210, left = 36, right = 8, top = 10, bottom = 22;
  const maxValue = Math.max(8, ...points.map((p) => Math.abs(p.value_after))) * 1.08;
  const px = (ply) => left + (ply / Math.max(plies, 1)) * (width - left - right);
  const py = (v) => top + (1 - (v + maxValue) / (2 * maxValue)) * (height - top - bottom);
  const line = points.map((p) => `${px(p.ply).toFixed(1)},${py(p.value_after).toFixed(1)}`);
  const last = points[points.length - 1];
  const svg = make("svg", { viewBox: `0 0 ${width} ${height}`, width: "100%", role: "img", style: "cursor:pointer",
    "aria-label": last ? `Evaluation for Black in ${unit} after each move; after move ${last.ply}: ${last.value_after.toFixed(1)}` : "No moves yet" });
  for (const v of ticks(-maxValue, maxValue, 4)) {
    svg.append(make("line", { x1: left, x2: width - right, y1: py(v), y2: py(v), stroke: v === 0 ? "var(--soft)" : "var(--rule)" }),
      make("text", { x: left - 6, y: py(v) + 4, "text-anchor": "end", "font-size": 11, fill: "var(--soft)" }, v > 0 ? `+${v}` : String(v).replace("-", "−")));
  }
  if (line.length) {
    const area = `${px(points[0].ply)},${py(0)} ${line.join(" ")} ${px(last.ply)},${py(0)}`;
    svg.append(make("polygon", { points: area, fill: "var(--accent)", opacity: 0.16 }),
      make("polyline", { points: line.join(" "), fill: "none", stroke: "var(--accent)", "stroke-width": 2, "stroke-linejoin": "round" }));
    const exact = points.filter((p) => p.exact);
    if (exact.length) svg.append(make("line", { x1: px(exact[0].ply), x2: px(last.ply), y1: height - bottom + 3, y2: height - bottom + 3, stroke: "var(--accent)", "stroke-width": 3 }),
      make("text", { x: px(last.ply), y: height - 4, "text-anchor": "end", "font-size": 11, fill: "var(--soft)" }, "exact"));
  }
  for (const p of points.filter((one) => MARKS[one.grade])) {
    const mark = MARKS[p.grade](px(p.ply), py(p.value_after));
    mark.setAttribute("class", `mark ${p.grade}`);
    mark.append(make("title", {}, `${p.ply}. ${p.played}: ${p.grade}, loss ${p.loss.toFixed(1)} ${unit}`));
    svg.append(mark);
  }
  svg.append(make("line", { x1: px(currentPly), x2: px(currentPly), y1: top, y2: height - bottom, stroke: "var(--more)", "stroke-width": 1.5, "stroke-dasharray": "3 3" }));
  svg.addEventListener("click", (event) => {
    const bounds = svg.getBoundingClientRect();
    const x = ((event.clientX - bounds.left) / bounds.width) * width;
    onPick(Math.max(0, Math.min(plies, Math.round(((x - left) / (width - left - right)) * plies))));
  });
  return svg;
}

/// Draws a board diagram: squares colored by weight, the squares of a tuple as a path, or discs.
export function boardDiagram({ title, weights, tuple, own = [], other = [], cells, digits = 1, marks = [] }) {
  const size = 160, cell = size / 8;
  const center = (square) => [(square % 8) * cell + cell / 2, Math.floor(square / 8) * cell + cell / 2];
  const maxValue = weights ? Math.max(...weights.map((x) => Math.abs(x ?? 0)), 1e-9) : 1;
  const svg = make("svg", { viewBox: `-0.5 -0.5 ${size + 1} ${size + 1}`, width: "100%", role: "img", "aria-label": title });
  for (let square = 0; square < 64; square++) {
    const [x, y] = center(square);
    const weight = weights?.[square];
    const strength = weight == null ? 0 : Math.sqrt(Math.abs(weight) / maxValue);
    svg.append(make("rect", { x: x - cell / 2, y: y - cell / 2, width: cell, height: cell, stroke: "var(--rule)", "stroke-width": 0.5,
      fill: weights ? (weight >= 0 ? "var(--more)" : "var(--less)") : cells ? "var(--felt)" : "var(--paper)", "fill-opacity": weights ? 0.75 * strength : 1 }));
    if (weight != null) svg.append(make("text", { x, y: y + 2.6, "font-size": 7.2, "text-anchor": "middle", fill: "var(--ink)" }, weight.toFixed(digits).replace(/^-(?=0*\.?0*$)/, "").replace("-", "−")));
    const disc = cells ? { X: "black", O: "white" }[cells[square]] : own.includes(square) ? "black" : other.includes(square) ? "white" : null;
    if (disc) svg.append(make("circle", { cx: x, cy: y, r: cell * 0.4, fill: disc === "black" ? "#191b1e" : "#f5f2e9", stroke: "var(--soft)", "stroke-width": 0.6 }));
  }
  if (tuple) {
    svg.append(make("polyline", { points: tuple.map((square) => center(square).join(",")).join(" "), fill: "none", stroke: "var(--c1)", "stroke-width": 2.5, opacity: 0.8 }));
    tuple.forEach((square, index) => svg.append(make("circle", { cx: center(square)[0], cy: center(square)[1], r: index ? 3.2 : 5, fill: "var(--c1)" })));
  }
  for (const mark of marks) svg.append(make("circle", { cx: center(mark)[0], cy: center(mark)[1], r: cell * 0.3, fill: "none", stroke: "#ffd75e", "stroke-width": 2 }));
  return svg;
}
