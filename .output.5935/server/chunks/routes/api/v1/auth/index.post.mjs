import { S as StartedCliLogin, N as NewCliLogin, s as startCliLogin, f as clientAddress } from '../../../../_/schema10.mjs';
import { J as useContext } from '../../../../nitro/nitro.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import 'node:crypto';
import 'node:net';
import 'zod';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:util';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint8 = defineEndpoint({
  summary: "Start the sign-in of a terminal",
  description: "The terminal shows the code and polls with the secret; the administrator types the code in the dashboard. Of more than 10 that wait for one address the oldest is forgotten.",
  auth: "none",
  body: NewCliLogin,
  response: StartedCliLogin,
  handler: ({ event, body }) => startCliLogin(clientAddress(event.node.req, useContext().options.trustedProxies), body.name)
});

export { endpoint8 as default };
