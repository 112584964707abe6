import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { av as CreatedApiToken, aw as NewApiToken, a6 as createToken } from '../../../../nitro/nitro.mjs';
import 'zod';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:net';

const endpoint18 = defineEndpoint({
  summary: "Create an API token",
  description: "The token appears only in this answer; the server keeps a SHA-256 of it.",
  auth: "session",
  status: 201,
  body: NewApiToken,
  response: CreatedApiToken,
  handler: ({ body }) => createToken(body.name, body.expires_at ?? null)
});

export { endpoint18 as default };
