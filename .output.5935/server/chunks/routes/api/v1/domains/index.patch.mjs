import { p as patchDomain, f as findDomain } from '../../../../_/operations.mjs';
import { a as Domain, b as DomainPatch } from '../../../../_/schema2.mjs';
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

const endpoint53 = defineEndpoint({
  summary: "Make a domain the default",
  description: "Services are shown and linked under it (`url`, `DEPLOYER_EXTERNAL_URL`) and stay served under the others; running ones read the new value at their next deploy or restart.",
  auth: "token",
  params: IdOrName,
  body: DomainPatch,
  response: Domain,
  errors: ["conflict"],
  handler: ({ params, body }) => viewDomain(patchDomain(findDomain(params.id), body))
});

export { endpoint53 as default };
