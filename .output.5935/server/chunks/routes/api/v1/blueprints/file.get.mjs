import { r as readRepositoryFile } from '../../../../_/repository-file.mjs';
import { R as RepositoryFile, F as FileQuery } from '../../../../_/synced-schema.mjs';
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
import '../../../../_/serving.mjs';
import '../../../../_/store.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store5.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../_/input.mjs';
import '../../../../_/bare-host.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/url.mjs';
import '../../../../_/version.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/same-repository.mjs';
import '../../../../_/slots.mjs';
import '../../../../_/jobs.mjs';
import 'node:child_process';
import 'node:stream';
import 'node:fs/promises';
import '../../../../_/branches.mjs';
import '../../../../_/answer-of.mjs';
import '../../../../_/size-watch.mjs';
import '../../../../_/refs.mjs';
import 'node:timers/promises';
import '../../../../_/rules2.mjs';
import '../../../../_/requests.mjs';
import '../../../../_/query.mjs';
import '../../../../_/schema9.mjs';
import '../../../../_/schema.mjs';
import '../../../../_/cron.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/states3.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/schema6.mjs';
import '../../../../_/states.mjs';
import '../../../../_/input2.mjs';
import '../../../../_/schema2.mjs';
import '../../../../_/schema3.mjs';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/schema4.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/references.mjs';
import '../../../../_/schema5.mjs';
import '../../../../_/schema7.mjs';
import '../../../../_/states2.mjs';
import '../../../../_/types.mjs';
import '../../../../_/watch-paths.mjs';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint26 = defineEndpoint({
  summary: "Read the blueprint of a repository",
  description: "As it is there now; nothing is applied. Plan it with a dry run of `POST /blueprints/apply`.",
  auth: "token",
  query: FileQuery,
  response: RepositoryFile,
  errors: [
    "git_remote_unreachable",
    "git_authorization_rejected",
    "git_provider_unavailable",
    "payload_too_large"
  ],
  handler: ({ query: { repo_url, branch, path } }) => readRepositoryFile({
    url: repo_url,
    branch: branch ?? null,
    path: path ?? null,
    commit: null,
    confined: false
  })
});

export { endpoint26 as default };
