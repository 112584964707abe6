import { z } from 'zod';
import { C as CliLogin, a as CliLoginApproval, b as approveCliLogin } from '../../../../../../_/schema10.mjs';
import { d as defineEndpoint } from '../../../../../../_/endpoint.mjs';
import 'node:crypto';
import 'node:net';
import '../../../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:util';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../../_/send.mjs';
import '../../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../../_/validate.mjs';

const endpoint4 = defineEndpoint({
  summary: "Approve a CLI login request",
  description: "Makes an API token named after the request; the terminal takes it at its next poll.",
  auth: "session",
  params: z.object({ id: z.string().meta({ examples: ["cli-0123456789abcdef0123"] }) }),
  body: CliLoginApproval,
  response: CliLogin,
  errors: ["not_found", "conflict"],
  handler: ({ params, body }) => approveCliLogin(params.id, body)
});

export { endpoint4 as default };
