import { once } from 'node:events';
import { J as useContext, D as setResponseHeaders, az as onCredentialsEnded, ar as identify } from '../nitro/nitro.mjs';
import { i as isHead } from './head.mjs';

const KEEP_ALIVE_MS = 15e3;
function eventStream(description) {
  return { contentType: "text/event-stream", description };
}
function leftSignal(event) {
  const { res } = event.node;
  const gone = new AbortController();
  if (res.closed) gone.abort();
  else res.once("close", () => gone.abort());
  return AbortSignal.any([gone.signal, useContext().stopping]);
}
async function sendEvents(event, events) {
  const { res } = event.node;
  const gone = new AbortController();
  const signal = AbortSignal.any([gone.signal, leftSignal(event)]);
  setResponseHeaders(event, {
    "content-type": "text/event-stream",
    "cache-control": "no-store",
    "x-accel-buffering": "no"
  });
  res.flushHeaders();
  if (isHead(event.node.req)) return void res.end();
  const check = () => {
    if (identify(event).kind === "none") gone.abort();
  };
  const forgetCheck = onCredentialsEnded(check);
  const keepAlive = setInterval(() => {
    check();
    if (!gone.signal.aborted && !res.writableNeedDrain) res.write(": keep-alive\n\n");
  }, KEEP_ALIVE_MS);
  try {
    for await (const item of events(signal)) {
      if (signal.aborted) break;
      if (!res.write(Buffer.isBuffer(item) ? item : eventBytes(item))) await once(res, "drain", { signal });
    }
  } catch (error) {
    if (!signal.aborted) throw error;
  } finally {
    clearInterval(keepAlive);
    forgetCheck();
    if (signal.aborted) res.destroy();
    else res.end();
  }
}
function eventBytes({ event, data }) {
  return Buffer.from(`event: ${event}
data:${data === void 0 ? "" : ` ${JSON.stringify(data)}`}

`);
}

export { eventBytes as a, eventStream as e, leftSignal as l, sendEvents as s };
