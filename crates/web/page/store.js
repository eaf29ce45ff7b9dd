// Games in the browser's local storage: each with its variations, analysis and clock.

const PREFIX = "outflank.game.";
const MAX_GAMES = 40;

/// Local storage fails in private windows and when it is full; the address still has the moves then.
function attempt(work, otherwise = null) { try { return work(); } catch { return otherwise; } }

const parse = (text) => attempt(() => JSON.parse(text));
const keys = () => Object.keys(localStorage).filter((key) => key.startsWith(PREFIX));

/// Returns the stored game with this identifier, or `null`.
export const find = (id) => attempt(() => parse(localStorage.getItem(PREFIX + id)));

/// Returns the stored games that have moves, latest first.
export const recent = () => attempt(() => keys().map((key) => parse(localStorage.getItem(key)))
  .filter((record) => record?.moves).sort((a, b) => b.time - a.time), []);

/// Stores a game. Returns whether that worked; the oldest games make room.
export function save(record) {
  const text = JSON.stringify({ ...record, time: Date.now() });
  const old = attempt(() => keys().filter((key) => key !== PREFIX + record.id)
    .sort((a, b) => (parse(localStorage.getItem(a))?.time ?? 0) - (parse(localStorage.getItem(b))?.time ?? 0)), []);
  while (old.length >= MAX_GAMES) attempt(() => localStorage.removeItem(old.shift()));
  for (;;) {
    if (attempt(() => { localStorage.setItem(PREFIX + record.id, text); return true; }, false)) return true;
    if (!old.length) return false;
    attempt(() => localStorage.removeItem(old.shift()));
  }
}

export const getSetting = (name) => attempt(() => localStorage.getItem(`outflank.${name}`));
export const setSetting = (name, value) => attempt(() => localStorage.setItem(`outflank.${name}`, value));
