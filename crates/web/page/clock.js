// The clocks of a game.

import { state, clockSeconds } from "./state.js";

export const isTimed = () => state.clock.minutes > 0;

/// Formats the time left, with tenths below ten seconds.
export function timeText(side) {
  const left = Math.max(0, clockSeconds(side));
  if (left < 10) return `0:0${(Math.floor(10 * left) / 10).toFixed(1)}`;
  return `${Math.floor(left / 60)}:${String(Math.floor(left % 60)).padStart(2, "0")}`;
}

/// Sets the clock of a new game from a text such as `5` or `5+3` (minutes and seconds per move).
export function reset(text) {
  const [minutes, increment = 0] = text.split("+").map(Number);
  state.clock = { minutes, increment, seconds: { black: 60 * minutes, white: 60 * minutes }, side: null, since: performance.now() };
}

/// Returns the text of the current clock.
export const setting = () => `${state.clock.minutes}${state.clock.increment ? `+${state.clock.increment}` : ""}`;

/// Stops the running clock, adds the increment, and starts that of `side`, or none.
export function switchTo(side) {
  const { clock } = state;
  if (clock.side === side) return;
  if (clock.side) {
    clock.seconds[clock.side] = clockSeconds(clock.side);
    if (side) clock.seconds[clock.side] += clock.increment;
  }
  clock.side = side;
  clock.since = performance.now();
}

/// Returns the side whose time is up, or `null`.
export const expired = () => (isTimed() && state.clock.side && clockSeconds(state.clock.side) <= 0 ? state.clock.side : null);
