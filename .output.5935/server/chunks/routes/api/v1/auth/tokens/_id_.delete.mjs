import { z } from 'zod';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { as as revokeToken } from '../../../../../nitro/nitro.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:net';

const endpoint16 = defineEndpoint({
  summary: "Revoke an API token",
  description: "It stops working at once.",
  auth: "session",
  params: z.object({ id: z.string().meta({ examples: ["tok-0123456789abcdef0123"] }) }),
  errors: ["not_found"],
  handler: ({ params }) => revokeToken(params.id)
});

export { endpoint16 as default };
