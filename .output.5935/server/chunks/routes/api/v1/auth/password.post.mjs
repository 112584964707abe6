import { aj as PasswordChange, ak as changePassword, al as sessionOf } from '../../../../nitro/nitro.mjs';
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

const endpoint11 = defineEndpoint({
  summary: "Change the password",
  description: "Ends every other session.",
  auth: "session",
  body: PasswordChange,
  errors: ["invalid_credentials"],
  handler: ({ principal, body }) => changePassword(body, sessionOf(principal))
});

export { endpoint11 as default };
