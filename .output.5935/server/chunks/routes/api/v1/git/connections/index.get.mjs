import { f as findConnection } from '../../../../../_/operations9.mjs';
import { G as GitConnection, d as ConnectionRef } from '../../../../../_/schema8.mjs';
import { v as viewConnection } from '../../../../../_/view10.mjs';
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

const endpoint73 = defineEndpoint({
  summary: "Read a git connection",
  auth: "token",
  params: ConnectionRef,
  response: GitConnection,
  handler: ({ params }) => viewConnection(findConnection(params.id))
});

export { endpoint73 as default };
