import { l as linesOf } from './log-files.mjs';
import { s as sendEvents } from './event-stream.mjs';

const written = /* @__PURE__ */ new WeakMap();
function logEvents(block) {
  const known = written.get(block);
  if (known) return known;
  const events = Buffer.from(
    linesOf(block).map((line) => `event: log
data: ${line}

`).join("")
  );
  written.set(block, events);
  return events;
}
async function sendLog(event, reading, follows) {
  try {
    await sendEvents(event, async function* (signal) {
      for await (const block of reading.read(signal)) yield logEvents(block);
      if (!follows) yield { event: "end" };
    });
  } finally {
    reading.leave();
  }
}

export { logEvents as l, sendLog as s };
