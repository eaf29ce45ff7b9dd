// Short messages with an optional action, and the state of the connection to the server.

import { $, make, fill } from "./dom.js";
import { onConnection } from "./api.js";

let timer = null;

/// Shows a message for some seconds; `actions` are pairs of a label and a function.
export function notice(text, actions = [], seconds = 12) {
  clearTimeout(timer);
  const node = $("notice");
  const close = () => { node.hidden = true; };
  fill(node, make("span", {}, text),
    actions.map(([label, run]) => make("button", { type: "button", onclick: () => { close(); run(); } }, label)),
    make("button", { type: "button", class: "quiet", "aria-label": "Close the message", onclick: close }, "×"));
  node.hidden = false;
  timer = setTimeout(close, 1000 * seconds);
}

export function setup() {
  onConnection((failure) => {
    $("connection").hidden = !failure;
    if (!failure) return;
    fill($("connection"), make("span", {}, failure.isFinal ? `No answer from the server (${failure.reason}).` : `No answer from the server (${failure.reason}). Trying again, attempt ${failure.attempt + 1}…`),
      failure.retry ? make("button", { type: "button", onclick: failure.retry }, "Try now") : null);
  });
}
