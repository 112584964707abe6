import { z } from 'zod';
import { a as Domain } from '../../../_/schema2.mjs';
import { l as listDomains } from '../../../_/store4.mjs';
import { v as viewDomain } from '../../../_/view8.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import '../../../_/schema3.mjs';
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
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/machine.mjs';
import '../../../_/public-address.mjs';
import '../../../_/records.mjs';
import 'node:os';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';

const endpoint55 = defineEndpoint({
  summary: "List the domains, the default first",
  auth: "token",
  response: z.array(Domain),
  handler: () => listDomains().map(viewDomain)
});

export { endpoint55 as default };
