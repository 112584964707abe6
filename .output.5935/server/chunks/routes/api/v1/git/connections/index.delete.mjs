import { d as deleteConnection, f as findConnection } from '../../../../../_/operations9.mjs';
import { c as ConnectionDeletion, d as ConnectionRef } from '../../../../../_/schema8.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import '../../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import '../../../../../_/serving.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../../_/input.mjs';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/addresses.mjs';
import 'node:os';
import '../../../../../_/judged.mjs';
import 'node:dns';
import '../../../../../_/url.mjs';
import '../../../../../_/version.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/same-repository.mjs';
import '../../../../../_/query.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../_/validate.mjs';

const endpoint72 = defineEndpoint({
  summary: "Remove a git connection and its secrets",
  description: "Refused while the repositories of services are cloned with it unless `force`; what it authorized at the provider stays there.",
  auth: "token",
  params: ConnectionRef,
  query: ConnectionDeletion,
  errors: ["conflict"],
  handler: ({ params, query }) => deleteConnection(findConnection(params.id), query.force)
});

export { endpoint72 as default };
