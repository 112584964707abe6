import { aa as AuthStatus, ae as authStatus, ar as identify } from '../../../../nitro/nitro.mjs';
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
import 'zod';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint15 = defineEndpoint({
  summary: "Tell who is signed in",
  description: "Wrong or expired credentials count as none.",
  auth: "none",
  response: AuthStatus,
  handler: ({ event }) => authStatus(identify(event))
});

export { endpoint15 as default };
