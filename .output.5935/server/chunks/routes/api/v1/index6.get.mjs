import { z } from 'zod';
import { E as Environment } from '../../../_/schema3.mjs';
import { a as viewEnvironments } from '../../../_/view9.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
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
import '../../../_/store7.mjs';
import '../../../_/public-address.mjs';
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/store4.mjs';
import '../../../_/hosts.mjs';
import '../../../_/store.mjs';
import '../../../_/types.mjs';
import '../../../_/dns.mjs';
import '../../../_/records.mjs';
import 'node:os';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';

const endpoint66 = defineEndpoint({
  summary: "List the environments, production first",
  auth: "token",
  response: z.array(Environment),
  handler: () => viewEnvironments()
});

export { endpoint66 as default };
