import { u as useBlueprintSync } from '../../../../../_/index.mjs';
import { b as BlueprintResult } from '../../../../../_/schema9.mjs';
import { f as findBlueprint } from '../../../../../_/synced.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import '../../../../../_/reading-thread.mjs';
import '../../../../../_/slots.mjs';
import '../../../../../_/worker-thread.mjs';
import 'node:worker_threads';
import '../../../../../_/run-each.mjs';
import 'node:stream';
import 'node:timers/promises';
import 'dockerode';
import 'node:fs';
import 'node:http';
import 'node:util';
import '../../../../../_/answer-of.mjs';
import 'node:os';
import 'node:fs/promises';
import 'node:crypto';
import 'node:http2';
import 'node:child_process';
import 'node:path';
import '../../../../../_/changes.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/view2.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/log-files.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/internal-port.mjs';
import '../../../../../_/states2.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/input.mjs';
import '../../../../../_/addresses.mjs';
import '../../../../../_/judged.mjs';
import 'node:dns';
import '../../../../../_/url.mjs';
import '../../../../../_/operations3.mjs';
import '../../../../../_/operations4.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/rules2.mjs';
import '../../../../../_/view.mjs';
import '../../../../../_/view3.mjs';
import '../../../../../_/written.mjs';
import '../../../../../_/schema.mjs';
import 'zod';
import '../../../../../_/cron.mjs';
import '../../../../../_/states3.mjs';
import '../../../../../_/input2.mjs';
import '../../../../../_/schema2.mjs';
import '../../../../../_/schema3.mjs';
import '../../../../../_/refs.mjs';
import '../../../../../_/schema4.mjs';
import '../../../../../_/query.mjs';
import '../../../../../_/schema5.mjs';
import '../../../../../_/schema6.mjs';
import '../../../../../_/schema7.mjs';
import '../../../../../_/watch-paths.mjs';
import '../../../../../_/operations5.mjs';
import '../../../../../_/operations6.mjs';
import '../../../../../_/view5.mjs';
import '../../../../../_/validate.mjs';
import '../../../../../_/restart.mjs';
import 'node:events';
import 'node:dns/promises';
import '../../../../../_/repository-file.mjs';
import '../../../../../_/serving.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../../_/version.mjs';
import '../../../../../_/same-repository.mjs';
import '../../../../../_/jobs.mjs';
import '../../../../../_/branches.mjs';
import 'node:https';
import '../../../../../_/size-watch.mjs';
import '../../../../../_/instances.mjs';
import '../../../../../_/hosts2.mjs';
import '../../../../../_/operations.mjs';
import '../../../../../_/limits.mjs';
import '../../../../../_/records.mjs';
import '../../../../../_/protocol.mjs';
import 'node:tls';
import '../../../../../_/source-tree.mjs';
import '../../../../../_/filter.mjs';
import 'node:stream/promises';
import 'node:zlib';
import 're2js';
import '../../../../../_/settled.mjs';
import '../../../../../_/operations7.mjs';
import 'aws4fetch';
import '../../../../../_/states4.mjs';
import 'tar-stream';
import '../../../../../_/operations8.mjs';
import 'node:stream/consumers';
import '../../../../../_/archives.mjs';
import '../../../../../_/authorize.mjs';
import '../../../../../_/operations9.mjs';
import '../../../../../_/schema8.mjs';
import '../../../../../_/delivery.mjs';
import '../../../../../_/operations10.mjs';
import '../../../../../_/table.mjs';
import '../../../../../_/latest.mjs';
import 'node:sqlite';
import '../../../../../_/latency-buckets.mjs';
import '../../../../../_/operations11.mjs';
import '../../../../../_/drain.mjs';
import '../../../../../_/client.mjs';
import '../../../../../_/find.mjs';
import '../../../../../_/greeting.mjs';
import '../../../../../_/ssh-key2.mjs';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:buffer';

const endpoint22 = defineEndpoint({
  summary: "Sync a blueprint now",
  description: "Reads the file of the branch's head and applies it. Variables that were set by hand stay, unless the blueprint has `overwrite_variables`.",
  auth: "token",
  params: IdOrName,
  response: BlueprintResult,
  errors: [
    "git_remote_unreachable",
    "git_authorization_rejected",
    "git_provider_unavailable",
    "payload_too_large",
    "service_unavailable"
  ],
  handler: ({ params }) => useBlueprintSync().sync(findBlueprint(params.id))
});

export { endpoint22 as default };
