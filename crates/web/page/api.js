// Asking the server. Everything is asked with the whole game, so that a reload loses nothing.

export class Refused extends Error {}

async function answer(response) {
  if (response.ok) return response.json();
  let text = `the server answered ${response.status}`;
  try { text = (await response.json()).error ?? text; } catch { /* not JSON: the status says it */ }
  throw new Refused(text);
}

function posted(path, body, signal) {
  return fetch(path, { method: "POST", body: JSON.stringify(body), signal });
}

export async function get(path, signal) { return answer(await fetch(path, { signal })); }
export async function post(path, body, signal) { return answer(await posted(path, body, signal)); }
export async function remove(path, body) {
  return answer(await fetch(path, { method: "DELETE", body: JSON.stringify(body) }));
}
export async function upload(path, bytes) {
  return answer(await fetch(path, { method: "POST", body: bytes }));
}

/// Calls `each` with every line of an answer that comes bit by bit.
export async function stream(path, body, signal, each) {
  const response = await posted(path, body, signal);
  if (!response.ok) return answer(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const told = JSON.parse(line);
      if (told.error) throw new Refused(told.error);
      each(told);
    }
  }
}

/// One piece of work at a time: beginning the next abandons the one before.
export function latest() {
  let controller = null;
  return {
    begin() { controller?.abort(); controller = new AbortController(); return controller.signal; },
    stop() { controller?.abort(); controller = null; },
  };
}

export const abandoned = (error) => error?.name === "AbortError";
