// The lab view: runs with live curves, leagues, ratings, models, and explanations of moves.

import { $, make, fill, plural, table } from "./dom.js";
import { get, remove, isAbort } from "./api.js";
import { lineChart, narrow } from "./charts.js";
import { showModel, showExplanation } from "./model_views.js";

let timer = null;
let drawnData = ""; // the data on the page, so that a refresh without changes draws nothing

const link = (to, text) => make("a", { href: `#lab/${to}` }, text);
const formatTime = (seconds) => new Date(seconds * 1000).toLocaleString();
const stateTag = (state) => make("span", { class: `tag ${state}` }, state);

export function close() { clearTimeout(timer); drawnData = ""; }

export async function open(hash) {
  close();
  const [page, name] = hash.slice(1).split("/").slice(1).map(decodeURIComponent);
  const tabs = [["runs", "Runs"], ["players", "Ratings"], ["models", "Models"], ["explain", "Explain a move"]];
  const current = page || "runs";
  const view = make("div", { id: "lab-page" });
  fill($("lab"),
    make("nav", { class: "tabs", "aria-label": "Lab", style: "margin-bottom:20px" }, tabs.map(([key, text]) => make("button", { type: "button", "aria-current": key === current || (key === "runs" && current === "run") ? "page" : null, onclick: () => { location.hash = `#lab/${key}`; } }, text))),
    view);
  try {
    if (current === "run") await drawRun(view, name);
    else if (current === "players") await drawRatings(view);
    else if (current === "models") await showModel(view, name);
    else if (current === "explain") await showExplanation(view);
    else await drawRuns(view);
  } catch (error) { if (!isAbort(error)) fill(view, make("p", { class: "error" }, error.message)); }
}

/// Refreshes the view after some seconds while it is visible.
function refreshAfter(seconds, refresh) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if ($("lab").hidden) return;
    try { if (!document.hidden) await refresh(); } catch { /* the server may be restarting */ }
  }, 1000 * seconds);
}

async function drawRuns(view) {
  const info = await get("/api/runs");
  const text = JSON.stringify(info);
  if (text !== drawnData) {
    drawnData = text;
    const row = (one) => [link(`run/${encodeURIComponent(one.name)}`, one.name), one.method?.replaceAll('"', "") ?? one.command ?? "?", one.data ?? "", one.players ?? "", one.figure ?? "", stateTag(one.state), formatTime(one.modified),
      [one.has_curve && "curve", one.has_league && "league", one.has_model && "model", one.has_report && "report"].filter(Boolean).join(", ")];
    fill(view, make("div", { class: "card" }, make("h1", {}, "Runs"),
      info.runs.length ? table(["Run", "Method", "Data", "Players", "Result", "State", "Modified", "Contents"], info.runs.map(row))
        : make("p", {}, `No runs in ${info.folder}. Create one with `, make("code", {}, "outflank train"), " or ", make("code", {}, "outflank league"), "."),
      make("p", { class: "hint" }, `${plural(info.runs.length, "run")} in ${info.folder}.`)));
  }
  refreshAfter(3, () => drawRuns(view));
}

/// Converts the columns of a curve to series; a column `NAME error` follows its column `NAME`.
function toSeries({ columns, points }) {
  const found = [];
  for (let column = 1; column < columns.length; column++) {
    if (columns[column].endsWith(" error")) continue;
    const error = columns[column + 1] === `${columns[column]} error` ? column + 1 : null;
    const values = points.filter((p) => p[0] !== null && p[column] != null).map((p) => [p[0], p[column], error ? p[error] : 0]);
    if (values.length) found.push({ name: columns[column], points: values });
  }
  return found;
}

/// Axis labels of curve columns. Columns of opponents are scores against them; all others are labeled by name.
const AXES = { loss: "mean loss", accuracy: "accuracy on test pairs (%)", "training accuracy": "top-1 accuracy (%)", "validation accuracy": "top-1 accuracy (%)",
  "online accuracy": "top-1 accuracy (%)",
  // Columns of version 0.1.
  hits: "top-1 accuracy (%)", speed: "positions per second", rate: "learning rate", "learned %": "top-1 accuracy (%)", "held-out %": "top-1 accuracy (%)" };
const isOpponent = (name) => /heuristic|random|champion|yoshioka/.test(name);
const axisLabel = (series) => [...new Set(series.map((one) => AXES[one.name] ?? (isOpponent(one.name) ? "score (%)" : one.name)))].join(", ");

function curveCard(curve) {
  // The total number of steps is constant.
  const all = toSeries(curve).filter((one) => one.name !== "steps");
  if (!all.length) return null;
  // Percentages share one chart; every other series has its own scale and chart.
  const isPercentage = (one) => /%|accuracy/.test(one.name) || isOpponent(one.name) || all.length === 1;
  const percentages = all.filter(isPercentage), others = all.filter((one) => !isPercentage(one));
  return make("div", { class: "card" }, make("h2", {}, "Training curve"), make("div", { class: others.length ? "pair" : "" },
    percentages.length ? lineChart(percentages, { title: "Training curve", x: curve.columns[0], y: axisLabel(percentages) }) : null,
    others.map((one) => lineChart([one], { title: one.name, x: curve.columns[0], y: axisLabel([one]), width: 340, height: 220 }))));
}

/// Returns the background style of a cross-table cell, by the share of points.
const scoreStyle = (points, games) => {
  const score = Number(points) / games;
  if (!Number.isFinite(score)) return "";
  const strength = Math.abs(score - 0.5) * 1.1;
  return `background:color-mix(in srgb, var(--${score >= 0.5 ? "more" : "less"}) ${(100 * strength).toFixed(0)}%, transparent)`;
};

function leagueCards(standings, crossTable) {
  const [titles, ...rows] = crossTable;
  const value = (row, column) => Number(rows[row]?.[column + 2]);
  const body = rows.map((row, i) => make("tr", {}, row.map((cell, index) => {
    const column = index - 2;
    const games = value(i, column) + value(column, i);
    return make(index === 1 ? "th" : "td", index === 1 ? { scope: "row", style: "color:inherit" } : { style: index > 1 ? scoreStyle(value(i, column), games) : "" }, cell);
  })));
  return [
    standings ? make("div", { class: "card" }, make("h2", {}, "Standings"), ratingBars(standings),
      table(standings[0].map((title) => (title === "player" ? title : `>${title}`)), standings.slice(1))) : null,
    make("div", { class: "card" }, make("h2", {}, "Cross table"),
      make("p", { class: "hint" }, "Points of the row player against the column player; blue if the row player leads."),
      make("div", { class: "scroll" }, make("table", { class: "cross", id: "cross" }, make("thead", {}, make("tr", {}, titles.map((title) => make("th", { scope: "col" }, title)))), make("tbody", {}, body)))),
  ];
}

/// Draws ratings with their 95% confidence intervals.
function ratingBars(standings) {
  const [titles, ...rows] = standings;
  const [name, rating, error] = ["player", "rating", "error"].map((title) => titles.indexOf(title));
  const low = Math.min(...rows.map((row) => row[rating] - row[error])), high = Math.max(...rows.map((row) => +row[rating] + +row[error]));
  const height = 22, left = narrow() ? 126 : 150, width = narrow() ? 330 : 640;
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - 45);
  const svg = make("svg", { viewBox: `0 0 ${width} ${rows.length * height + 6}`, width: "100%", role: "img", "aria-label": "Ratings with 95% confidence intervals", style: "max-width:760px" });
  rows.forEach((row, i) => {
    const y = i * height + 14, [r, e] = [Number(row[rating]), Number(row[error])];
    svg.append(make("text", { x: left - 10, y: y + 4, "text-anchor": "end", "font-size": narrow() ? 11 : 12, fill: "var(--ink)" }, row[name]),
      make("line", { x1: x(r - e), x2: x(r + e), y1: y, y2: y, stroke: "var(--c1)", "stroke-width": 5, opacity: 0.3, "stroke-linecap": "round" }),
      make("circle", { cx: x(r), cy: y, r: 4.5, fill: "var(--c1)" }),
      make("text", { x: x(r + e) + 8, y: y + 4, "font-size": 11.5, fill: "var(--soft)" }, r.toFixed(0)));
  });
  return svg;
}

async function drawRun(view, name) {
  const info = await get(`/api/runs/${encodeURIComponent(name)}`);
  const text = JSON.stringify(info);
  if (text !== drawnData) {
    drawnData = text;
    const path = `/api/runs/${encodeURIComponent(name)}`;
    fill(view,
      make("div", { class: "card" }, make("h1", {}, name, " ", stateTag(info.state)),
        make("p", { class: "hint" }, [info.command, info.seed != null && `seed ${info.seed}`, info.games && `${plural(info.games, "game")} played`, info.workers, `modified ${formatTime(info.modified)}`].filter(Boolean).join(" · ")),
        make("div", { class: "row buttons wrap" },
          info.has_report ? make("a", { class: "button", href: `${path}/report`, target: "_blank", rel: "noopener" }, "Report") : null,
          info.has_model ? make("a", { class: "button", href: `#lab/models/${encodeURIComponent(`run:${name}`)}` }, "Model") : null,
          make("button", { type: "button", class: "danger", onclick: () => deleteRun(name, info.confirm), disabled: info.state === "running" }, "Delete…"))),
      info.curve ? curveCard(info.curve) : null,
      info.cross_table ? leagueCards(info.standings, info.cross_table) : null,
      info.matches ? make("div", { class: "card" }, make("h2", {}, "Matches"), table(info.matches[0].map((title, i) => (i ? `>${title}` : title)), info.matches.slice(1))) : null,
      make("div", { class: "card" }, make("details", {}, make("summary", {}, "Configuration"), make("pre", {}, info.config))));
  }
  if (info.state === "running") refreshAfter(2, () => drawRun(view, name));
}

function deleteRun(name, confirm) {
  $("confirm-text").textContent = `Delete run ${name} and all its files? This cannot be undone.`;
  const dialog = $("confirm");
  dialog.returnValue = "no";
  dialog.onclose = async () => {
    if (dialog.returnValue !== "yes") return;
    try {
      await remove(`/api/runs/${encodeURIComponent(name)}`, { confirm });
      location.hash = "#lab/runs";
    } catch (error) { fill($("lab-page"), make("p", { class: "error" }, error.message)); }
  };
  dialog.showModal();
}

async function drawRatings(view) {
  const info = await get("/api/players");
  const ratingCard = (game, title) => {
    const rated = [...info[game].levels, ...info[game].others].filter((one) => one.rating != null).sort((a, b) => b.rating - a.rating);
    const rows = [["player", "rating", "error", "level"], ...rated.map((one) => [one.player, one.rating.toFixed(0), one.error.toFixed(0), one.title === one.player ? "" : one.title])];
    // Rating and error share a column to fit a phone.
    const cells = rows.slice(1).map(([player, rating, error, level]) => [player, `${rating} ± ${error}`, level]);
    return make("div", { class: "card" }, make("h2", {}, title), ratingBars(rows), table(["player", ">rating ± 95% CI", "level"], cells));
  };
  fill(view, ratingCard("othello", "Othello"), ratingCard("checkers", "Checkers"), make("p", { class: "hint" }, info.note));
}
