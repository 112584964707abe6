import { z } from 'zod';
import { an as Session, ao as listSessions, al as sessionOf } from '../../../../nitro/nitro.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
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
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint13 = defineEndpoint({
  summary: "List the browsers that are signed in",
  description: "Last used first.",
  auth: "session",
  response: z.array(Session),
  handler: ({ principal }) => listSessions(sessionOf(principal))
});

export { endpoint13 as default };
