import { z } from 'zod';
import { G as GitConnection } from '../../../../_/schema8.mjs';
import { a as viewConnections } from '../../../../_/view10.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import '../../../../_/query.mjs';
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
import '../../../../_/input.mjs';
import '../../../../_/bare-host.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/url.mjs';
import '../../../../_/serving.mjs';
import '../../../../_/store.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../_/version.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/same-repository.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint75 = defineEndpoint({
  summary: "List the git connections, pending ones included",
  auth: "token",
  response: z.array(GitConnection),
  handler: () => viewConnections()
});

export { endpoint75 as default };
