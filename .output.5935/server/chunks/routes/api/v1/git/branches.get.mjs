import { q as readBranches } from '../../../../_/branches.mjs';
import { B as Branches, b as BranchesQuery } from '../../../../_/schema8.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import 'node:path';
import '../../../../nitro/nitro.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/bare-host.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/serving.mjs';
import '../../../../_/store.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../_/input.mjs';
import '../../../../_/url.mjs';
import '../../../../_/version.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/same-repository.mjs';
import '../../../../_/answer-of.mjs';
import 'node:child_process';
import '../../../../_/jobs.mjs';
import 'node:stream';
import 'node:fs/promises';
import '../../../../_/slots.mjs';
import '../../../../_/query.mjs';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint70 = defineEndpoint({
  summary: "Read the branches of a repository from its remote",
  description: "Asked as a deploy would: with the credentials in the address, else with the connection that serves it, else without.",
  auth: "token",
  query: BranchesQuery,
  response: Branches,
  errors: ["git_remote_unreachable", "git_authorization_rejected", "git_provider_unavailable"],
  handler: ({ query }) => readBranches(query.repo_url)
});

export { endpoint70 as default };
