import { z } from 'zod';
import { C as CliLogin, d as denyCliLogin } from '../../../../../../_/schema10.mjs';
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

const endpoint5 = defineEndpoint({
  summary: "Deny a CLI login request",
  description: "The terminal is told at its next poll.",
  auth: "session",
  params: z.object({ id: z.string().meta({ examples: ["cli-0123456789abcdef0123"] }) }),
  response: CliLogin,
  errors: ["not_found", "conflict"],
  handler: ({ params }) => denyCliLogin(params.id)
});

export { endpoint5 as default };
