import { E as Environment } from '../../../../_/schema3.mjs';
import { f as findEnvironment } from '../../../../_/store.mjs';
import { v as viewEnvironment } from '../../../../_/view9.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import 'zod';
import '../../../../_/store7.mjs';
import '../../../../_/public-address.mjs';
import '../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/types.mjs';
import '../../../../_/dns.mjs';
import '../../../../_/records.mjs';
import 'node:fs';
import 'node:os';
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
import 'node:path';
import 'node:crypto';

const endpoint64 = defineEndpoint({
  summary: "Read an environment",
  auth: "token",
  params: IdOrName,
  response: Environment,
  handler: ({ params }) => viewEnvironment(findEnvironment(params.id))
});

export { endpoint64 as default };
