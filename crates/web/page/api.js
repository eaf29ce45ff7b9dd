// HTTP requests to the server. Every request contains the whole game; the server stores no state.

export class ApiError extends Error {}

async function readJson(response) {
  if (response.ok) return response.json();
  let text = `the server returned status ${response.status}`;
  try { text = (await response.json()).error ?? text; } catch { /* not JSON: report the status */ }
  throw new ApiError(text);
}

function postRequest(path, body, signal) {
  return fetch(path, { method: "POST", body: JSON.stringify(body), signal });
}

export async function get(path, signal) { return readJson(await fetch(path, { signal })); }
export async function post(path, body, signal) { return readJson(await postRequest(path, body, signal)); }
export async function remove(path, body) {
  return readJson(await fetch(path, { method: "DELETE", body: JSON.stringify(body) }));
}
export async function upload(path, bytes) {
  return readJson(await fetch(path, { method: "POST", body: bytes }));
}

/// Calls `onLine` with every JSON line of a streamed response.
export async function stream(path, body, signal, onLine) {
  const response = await postRequest(path, body, signal);
  if (!response.ok) return readJson(response);
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      const parsed = JSON.parse(line);
      if (parsed.error) throw new ApiError(parsed.error);
      onLine(parsed);
    }
  }
}

/// Runs one request at a time: starting the next one aborts the previous one.
export function abortable() {
  let controller = null;
  return {
    start() { controller?.abort(); controller = new AbortController(); return controller.signal; },
    stop() { controller?.abort(); controller = null; },
  };
}

export const isAbort = (error) => error?.name === "AbortError";
