import { z } from 'zod';
import { c as checkEnvironment } from '../../../../../_/host-checks.mjs';
import { H as HostCheck } from '../../../../../_/schema2.mjs';
import { f as findEnvironment } from '../../../../../_/store.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import '../../../../../_/dns.mjs';
import '../../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/records.mjs';
import 'node:fs';
import 'node:os';
import '../../../../../_/store4.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/operations.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/limits.mjs';
import 'node:crypto';
import '../../../../../_/public-address.mjs';
import '../../../../../_/addresses.mjs';
import 'node:http';
import '../../../../../_/answer-of.mjs';
import '../../../../../_/protocol.mjs';
import 'node:dns/promises';
import '../../../../../_/schema3.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import 'node:https';
import 'node:buffer';
import 'node:path';

const endpoint65 = defineEndpoint({
  summary: "Check the DNS of an environment now",
  description: "Looks, for each domain that is not local, at what a made-up host of the environment resolves to, and whether the server answers there on its public HTTP port.",
  auth: "token",
  params: IdOrName,
  response: z.array(HostCheck),
  handler: ({ params }) => checkEnvironment(findEnvironment(params.id))
});

export { endpoint65 as default };
