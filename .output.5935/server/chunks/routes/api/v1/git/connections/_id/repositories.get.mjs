import { r as repositoriesOf, f as findConnection } from '../../../../../../_/operations9.mjs';
import { R as Repositories, d as ConnectionRef } from '../../../../../../_/schema8.mjs';
import { d as defineEndpoint } from '../../../../../../_/endpoint.mjs';
import '../../../../../../nitro/nitro.mjs';
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
import '../../../../../../_/serving.mjs';
import '../../../../../../_/store.mjs';
import '../../../../../../_/qualified-name.mjs';
import '../../../../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../../../_/input.mjs';
import '../../../../../../_/bare-host.mjs';
import '../../../../../../_/addresses.mjs';
import 'node:os';
import '../../../../../../_/judged.mjs';
import 'node:dns';
import '../../../../../../_/url.mjs';
import '../../../../../../_/version.mjs';
import '../../../../../../_/changes.mjs';
import '../../../../../../_/same-repository.mjs';
import '../../../../../../_/query.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../../_/send.mjs';
import '../../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../../_/validate.mjs';

const endpoint74 = defineEndpoint({
  summary: "List what a git connection may read, most recently updated first",
  description: "Asked of the provider on every call; at most 1,000. Use a `clone_url` as `repo_url`.",
  auth: "token",
  params: ConnectionRef,
  response: Repositories,
  errors: ["git_authorization_rejected", "git_provider_unavailable"],
  handler: ({ params }) => repositoriesOf(findConnection(params.id))
});

export { endpoint74 as default };
