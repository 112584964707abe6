import { $ as setResponseHeader } from '../nitro/nitro.mjs';
import { z } from 'zod';
import { d as defineEndpoint } from '../_/endpoint.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'node:stream';
import 'node:timers/promises';
import '../_/send.mjs';
import '../_/compression.mjs';
import 'node:zlib';
import '../_/validate.mjs';

const endpoint128 = defineEndpoint({
  summary: "Ask whether the server lives",
  auth: "none",
  // Load balancers add what keeps a cache from answering for the server.
  query: z.looseObject({}),
  response: { contentType: "text/plain", description: "`ok`" },
  handler({ event }) {
    setResponseHeader(event, "content-type", "text/plain");
    event.node.res.end("ok");
  }
});

export { endpoint128 as default };
