import { z } from 'zod';
import { E as EnvGroup } from '../../../_/schema14.mjs';
import { a as viewEnvGroups } from '../../../_/view5.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import '../../../_/query.mjs';
import '../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import '../../../_/schema4.mjs';
import '../../../_/rules.mjs';
import '../../../_/references.mjs';
import '../../../_/qualified-name.mjs';
import '../../../_/store.mjs';
import '../../../_/store6.mjs';
import '../../../_/store3.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';

const endpoint61 = defineEndpoint({
  summary: "List the env groups by name",
  auth: "token",
  response: z.array(EnvGroup),
  handler: () => viewEnvGroups()
});

export { endpoint61 as default };
