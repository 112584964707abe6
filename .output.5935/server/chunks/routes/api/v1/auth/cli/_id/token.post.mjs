import { z } from 'zod';
import { c as CliLoginPoll, e as CliLoginSecret, p as pollCliLogin } from '../../../../../../_/schema10.mjs';
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

const endpoint7 = defineEndpoint({
  summary: "Ask whether a terminal is signed in",
  description: "An answer, yes or no, is given once: the request is gone afterwards.",
  auth: "none",
  params: z.object({ id: z.string().meta({ examples: ["cli-0123456789abcdef0123"] }) }),
  body: CliLoginSecret,
  response: CliLoginPoll,
  errors: ["invalid_credentials", "not_found"],
  handler: ({ params, body }) => pollCliLogin(params.id, body.secret)
});

export { endpoint7 as default };
