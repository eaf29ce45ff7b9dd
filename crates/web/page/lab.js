// The laboratory: runs with live curves, leagues, models, and why a model likes a move.

import { $, make, fill, plural, table } from "./dom.js";
import { get, remove, abandoned } from "./api.js";
import { curves, narrow } from "./charts.js";
import { showModel, showWhy } from "./models.js";

let timer = null;
let drawn = ""; // what is on the page, so that a refresh without news changes nothing

const link = (to, text) => make("a", { href: `#lab/${to}` }, text);
const when = (seconds) => new Date(seconds * 1000).toLocaleString();
const tag = (state) => make("span", { class: `tag ${state}` }, state);

export function leave() { clearTimeout(timer); drawn = ""; }

export async function enter(hash) {
  leave();
  const [page, name] = hash.slice(1).split("/").slice(1).map(decodeURIComponent);
  const tabs = [["runs", "Runs"], ["players", "Ratings"], ["models", "Models"], ["why", "Why this move"]];
  const current = page || "runs";
  const place = make("div", { id: "lab-page" });
  fill($("lab"),
    make("div", { class: "tabs", style: "margin-bottom:20px" }, tabs.map(([key, text]) => make("button", { type: "button", "aria-selected": key === current || (key === "runs" && current === "run"), onclick: () => { location.hash = `#lab/${key}`; } }, text))),
    place);
  try {
    if (current === "run") await run(place, name);
    else if (current === "players") await ratings(place);
    else if (current === "models") await showModel(place, name);
    else if (current === "why") await showWhy(place);
    else await runs(place);
  } catch (error) { if (!abandoned(error)) fill(place, make("p", { class: "error" }, error.message)); }
}

/// Draws again what may have changed, as long as one looks.
function again(seconds, work) {
  clearTimeout(timer);
  timer = setTimeout(async () => {
    if ($("lab").hidden) return;
    try { if (!document.hidden) await work(); } catch { /* the server may be away for a moment */ }
  }, 1000 * seconds);
}

async function runs(place) {
  const told = await get("/api/runs");
  const text = JSON.stringify(told);
  if (text !== drawn) {
    drawn = text;
    const row = (one) => [link(`run/${encodeURIComponent(one.name)}`, one.name), one.command ?? "?", tag(one.state), when(one.changed),
      [one.curve && "curve", one.league && "league", one.model && "model", one.report && "report"].filter(Boolean).join(", ")];
    fill(place, make("div", { class: "card" }, make("h1", {}, "Runs"),
      told.runs.length ? table(["Run", "Command", "State", "Last change", "Has"], told.runs.map(row))
        : make("p", {}, `There are no runs in ${told.folder} yet. `, make("code", {}, "outflank learn"), " or ", make("code", {}, "outflank league"), " makes one."),
      make("p", { class: "hint" }, `From the folder ${told.folder}; ${plural(told.runs.length, "run")}.`)));
  }
  again(3, () => runs(place));
}

/// The columns of a curve as series; a column called `… error` belongs to the one before.
function series({ heads, points }) {
  const found = [];
  for (let column = 1; column < heads.length; column++) {
    if (heads[column].endsWith(" error")) continue;
    const error = heads[column + 1] === `${heads[column]} error` ? column + 1 : null;
    const values = points.filter((p) => p[0] !== null && p[column] != null).map((p) => [p[0], p[column], error ? p[error] : 0]);
    if (values.length) found.push({ name: heads[column], points: values });
  }
  return found;
}

/// What the columns of curves are called on an axis; others are called as they are, and those of opponents are
/// shares of the points against them.
const AXES = { loss: "mean loss of an example", hits: "% of moves predicted", speed: "positions a second", rate: "learning rate", accuracy: "% of test pairs",
  "learned %": "% of moves predicted", "held-out %": "% of moves predicted" };
const isOpponent = (name) => /heuristic|random|champion|yoshioka/.test(name);
const axis = (series) => [...new Set(series.map((one) => AXES[one.name] ?? (isOpponent(one.name) ? "% of points" : one.name)))].join(", ");

function curveCard(points) {
  // How many steps there will be is no curve.
  const all = series(points).filter((one) => one.name !== "steps");
  if (!all.length) return null;
  // Percentages share one picture; what has a scale of its own has a picture of its own.
  const isShare = (one) => /%/.test(one.name) || isOpponent(one.name) || all.length === 1;
  const shares = all.filter(isShare), others = all.filter((one) => !isShare(one));
  return make("div", { class: "card" }, make("h2", {}, "Curve"), make("div", { class: others.length ? "pair" : "" },
    shares.length ? curves(shares, { title: "How it went on", x: points.heads[0], y: axis(shares) }) : null,
    others.map((one) => curves([one], { title: one.name, x: points.heads[0], y: axis([one]), width: 340, height: 220 }))));
}

const shade = (value, most) => {
  const share = Number(value) / most;
  if (!Number.isFinite(share)) return "";
  const strength = Math.abs(share - 0.5) * 1.1;
  return `background:color-mix(in srgb, var(--${share >= 0.5 ? "more" : "less"}) ${(100 * strength).toFixed(0)}%, transparent)`;
};

export function league(standings, cross) {
  const [heads, ...rows] = cross;
  const value = (row, column) => Number(rows[row]?.[column + 2]);
  const body = rows.map((row, i) => make("tr", {}, row.map((cell, place) => {
    const column = place - 2;
    const games = value(i, column) + value(column, i);
    return make(place === 1 ? "th" : "td", place === 1 ? { scope: "row", style: "color:inherit" } : { style: place > 1 ? shade(value(i, column), games) : "" }, cell);
  })));
  return [
    standings ? make("div", { class: "card" }, make("h2", {}, "Standings"), ratingBars(standings),
      table(standings[0].map((head) => (head === "player" ? head : `>${head}`)), standings.slice(1))) : null,
    make("div", { class: "card" }, make("h2", {}, "Cross table"),
      make("p", { class: "hint" }, "Points of the row's player against the column's; blue where the row leads."),
      make("div", { class: "scroll" }, make("table", { class: "cross", id: "cross" }, make("thead", {}, make("tr", {}, heads.map((head) => make("th", { scope: "col" }, head)))), make("tbody", {}, body)))),
  ];
}

/// Ratings with their 95% intervals.
function ratingBars(standings) {
  const [heads, ...rows] = standings;
  const [name, rating, error] = ["player", "rating", "error"].map((head) => heads.indexOf(head));
  const low = Math.min(...rows.map((row) => row[rating] - row[error])), high = Math.max(...rows.map((row) => +row[rating] + +row[error]));
  const height = 22, left = narrow() ? 126 : 150, width = narrow() ? 330 : 640;
  const x = (value) => left + ((value - low) / (high - low || 1)) * (width - left - 45);
  const svg = make("svg", { viewBox: `0 0 ${width} ${rows.length * height + 6}`, width: "100%", role: "img", "aria-label": "Ratings with 95% intervals", style: "max-width:760px" });
  rows.forEach((row, i) => {
    const y = i * height + 14, [r, e] = [Number(row[rating]), Number(row[error])];
    svg.append(make("text", { x: left - 10, y: y + 4, "text-anchor": "end", "font-size": narrow() ? 11 : 12, fill: "var(--ink)" }, row[name]),
      make("line", { x1: x(r - e), x2: x(r + e), y1: y, y2: y, stroke: "var(--c1)", "stroke-width": 5, opacity: 0.3, "stroke-linecap": "round" }),
      make("circle", { cx: x(r), cy: y, r: 4.5, fill: "var(--c1)" }),
      make("text", { x: x(r + e) + 8, y: y + 4, "font-size": 11.5, fill: "var(--soft)" }, r.toFixed(0)));
  });
  return svg;
}

async function run(place, name) {
  const told = await get(`/api/runs/${encodeURIComponent(name)}`);
  const text = JSON.stringify(told);
  if (text !== drawn) {
    drawn = text;
    const path = `/api/runs/${encodeURIComponent(name)}`;
    fill(place,
      make("div", { class: "card" }, make("h1", {}, name, " ", tag(told.state)),
        make("p", { class: "hint" }, [told.command, told.seed != null && `seed ${told.seed}`, told.games && `${plural(told.games, "game")} played`, told.workers, `last change ${when(told.changed)}`].filter(Boolean).join(" · ")),
        make("div", { class: "row buttons wrap" },
          told.report ? make("a", { class: "button", href: `${path}/report`, target: "_blank", rel: "noopener" }, "Its report") : null,
          told.model ? make("a", { class: "button", href: `#lab/models/${encodeURIComponent(`run:${name}`)}` }, "What it has learned") : null,
          make("button", { type: "button", class: "danger", onclick: () => erase(name, told.confirm), disabled: told.state === "running" }, "Delete…"))),
      told.points ? curveCard(told.points) : null,
      told.cross ? league(told.standings, told.cross) : null,
      told.matches ? make("div", { class: "card" }, make("h2", {}, "Matches"), table(told.matches[0].map((head, i) => (i ? `>${head}` : head)), told.matches.slice(1))) : null,
      make("div", { class: "card" }, make("details", {}, make("summary", {}, "What was asked"), make("pre", {}, told.config))));
  }
  if (told.state === "running") again(2, () => run(place, name));
}

function erase(name, confirm) {
  $("ask-text").textContent = `Delete the run ${name} with everything in its folder? This cannot be undone.`;
  const dialog = $("ask");
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

async function ratings(place) {
  const told = await get("/api/players");
  const of = (game, title) => {
    const rated = [...told[game].levels, ...told[game].others].filter((one) => one.rating != null).sort((a, b) => b.rating - a.rating);
    const rows = [["player", "rating", "error", "level"], ...rated.map((one) => [one.player, one.rating.toFixed(0), one.error.toFixed(0), one.title === one.player ? "" : one.title])];
    // Together they fit a telephone.
    const shown = rows.slice(1).map(([player, rating, error, level]) => [player, `${rating} ± ${error}`, level]);
    return make("div", { class: "card" }, make("h2", {}, title), ratingBars(rows), table(["player", ">rating ± 95%", "level"], shown));
  };
  fill(place, of("othello", "Othello"), of("checkers", "Checkers"), make("p", { class: "hint" }, told.note));
}
