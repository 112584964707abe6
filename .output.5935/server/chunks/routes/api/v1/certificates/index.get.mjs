import { z } from 'zod';
import { a as UploadedCertificate } from '../../../../_/schema11.mjs';
import { l as listUploaded } from '../../../../_/hosts2.mjs';
import { a as viewUploaded } from '../../../../_/view6.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import '../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import '../../../../_/changes.mjs';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/store.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/types.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store5.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint31 = defineEndpoint({
  summary: "List the uploaded certificates, newest first",
  auth: "token",
  response: z.array(UploadedCertificate),
  handler: () => listUploaded().map(viewUploaded)
});

export { endpoint31 as default };
