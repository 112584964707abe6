import { f as findDomain } from '../../../../_/operations.mjs';
import { a as Domain } from '../../../../_/schema2.mjs';
import { v as viewDomain } from '../../../../_/view8.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/claims.mjs';
import '../../../../_/store.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/types.mjs';
import '../../../../_/qualified-name.mjs';
import 'zod';
import '../../../../_/schema3.mjs';
import '../../../../_/public-address.mjs';
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

const endpoint52 = defineEndpoint({
  summary: "Read a domain",
  auth: "token",
  params: IdOrName,
  response: Domain,
  handler: ({ params }) => viewDomain(findDomain(params.id))
});

export { endpoint52 as default };
