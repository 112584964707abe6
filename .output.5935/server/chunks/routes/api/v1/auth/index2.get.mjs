import { z } from 'zod';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { at as ApiToken, au as listTokens } from '../../../../nitro/nitro.mjs';
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

const endpoint17 = defineEndpoint({
  summary: "List API tokens",
  description: "Newest first. The server token, the file api_token in the data directory, is not a record and not listed.",
  auth: "session",
  response: z.array(ApiToken),
  handler: () => listTokens()
});

export { endpoint17 as default };
