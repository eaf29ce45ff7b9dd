// HTTP requests to the server. Every request contains the whole game and the server stores no state, so a request
// that got no answer is sent again.

export class ApiError extends Error {}

/// Seconds to wait before each further attempt.
const DELAYS = [0.5, 1, 2, 4, 8];

const connectionListeners = new Set();
/// Calls `listener` with a description of a failed attempt, or with `null` once the server answers again.
export const onConnection = (listener) => connectionListeners.add(listener);
const report = (failure) => connectionListeners.forEach((listener) => listener(failure));

let hasFailed = false;

/// Waits, and ends early if `signal` is aborted or the user asks for it.
function wait(seconds, signal, setSkip) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, 1000 * seconds);
    setSkip(() => { clearTimeout(timer); resolve(); });
    signal?.addEventListener("abort", () => { clearTimeout(timer); reject(signal.reason); }, { once: true });
  });
}

/// Sends a request until the server answers; 502 to 504 count as no answer.
async function request(path, options, isRepeatable = true) {
  for (let attempt = 0; ; attempt++) {
    let reason;
    try {
      const response = await fetch(path, options);
      if (response.status < 502 || response.status > 504) {
        if (hasFailed) { hasFailed = false; report(null); }
        return response;
      }
      reason = (await response.json().catch(() => ({}))).error ?? `status ${response.status}`;
    } catch (error) {
      if (isAbort(error)) throw error;
      reason = "no connection";
    }
    hasFailed = true;
    if (attempt >= DELAYS.length || !isRepeatable) {
      report({ reason, attempt, isFinal: true });
      throw new ApiError(`The server does not answer (${reason}). Is it still running?`);
    }
    let skip = () => {};
    const waiting = wait(DELAYS[attempt], options?.signal, (call) => { skip = call; });
    report({ reason, attempt: attempt + 1, isFinal: false, retry: () => skip() });
    await waiting;
  }
}

async function readJson(response) {
  if (response.ok) return response.json();
  let text = `the server returned status ${response.status}`;
  try { text = (await response.json()).error ?? text; } catch { /* not JSON: report the status */ }
  throw new ApiError(text);
}

const postRequest = (path, body, signal) => request(path, { method: "POST", body: JSON.stringify(body), signal });

export async function get(path, signal) { return readJson(await request(path, { signal })); }
export async function post(path, body, signal) { return readJson(await postRequest(path, body, signal)); }
export const postForResponse = (path, body) => postRequest(path, body);
export async function remove(path, body) {
  return readJson(await request(path, { method: "DELETE", body: JSON.stringify(body) }, false));
}
export async function upload(path, bytes) { return readJson(await request(path, { method: "POST", body: bytes })); }

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
