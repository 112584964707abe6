import { f as followChanges } from '../../../_/changes.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { s as sendEvents, e as eventStream, a as eventBytes } from '../../../_/event-stream.mjs';
import '../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';
import '../../../_/head.mjs';

const written = /* @__PURE__ */ new WeakMap();
function changeEvent(change) {
  const bytes = written.get(change) ?? eventBytes({ event: "change", data: change });
  written.set(change, bytes);
  return bytes;
}
const endpoint68 = defineEndpoint({
  summary: "Follow what changes",
  description: "Each change is told by kind and id; fetch what it names. `resync` says that changes were missed: fetch everything.",
  auth: "token",
  response: eventStream("Event `ready`, then `change` with {kind, id, service_id, action}"),
  handler: ({ event }) => sendEvents(event, async function* (signal) {
    const changes = followChanges(signal);
    yield { event: "ready", data: {} };
    for await (const change of changes) yield changeEvent(change);
  })
});

export { endpoint68 as default };
