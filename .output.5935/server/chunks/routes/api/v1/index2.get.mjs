import { z } from 'zod';
import { C as CertificateEntry } from '../../../_/schema11.mjs';
import { v as viewCertificates } from '../../../_/view6.mjs';
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
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/hosts2.mjs';
import '../../../_/changes.mjs';
import '../../../_/store4.mjs';
import '../../../_/store.mjs';
import '../../../_/hosts.mjs';
import '../../../_/types.mjs';
import '../../../_/qualified-name.mjs';
import '../../../_/store5.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';

const endpoint29 = defineEndpoint({
  summary: "List how each routed hostname is certified",
  description: "The dashboard's first, then each hostname of each web service and static site.",
  auth: "token",
  response: z.array(CertificateEntry),
  handler: () => viewCertificates()
});

export { endpoint29 as default };
