import { b as applyBlueprint, c as useWorld } from '../../../../_/index.mjs';
import { a as BlueprintInput, b as BlueprintQuery, i as isYaml } from '../../../../_/requests.mjs';
import { b as BlueprintResult } from '../../../../_/schema9.mjs';
import { d as defineEndpoint, r as readText, a as readJson } from '../../../../_/endpoint.mjs';
import { v as validate } from '../../../../_/validate.mjs';
import '../../../../_/reading-thread.mjs';
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
import 'zod';
import '../../../../_/slots.mjs';
import '../../../../_/worker-thread.mjs';
import 'node:worker_threads';
import '../../../../_/run-each.mjs';
import 'node:stream';
import 'node:timers/promises';
import 'dockerode';
import '../../../../_/answer-of.mjs';
import 'node:os';
import 'node:fs/promises';
import 'node:http2';
import 'node:child_process';
import '../../../../_/synced.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/store.mjs';
import '../../../../_/same-repository.mjs';
import '../../../../_/url.mjs';
import '../../../../_/view.mjs';
import '../../../../_/states.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/store2.mjs';
import '../../../../_/view2.mjs';
import '../../../../_/store3.mjs';
import '../../../../_/internal-port.mjs';
import '../../../../_/states2.mjs';
import '../../../../_/view3.mjs';
import '../../../../_/public-address.mjs';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/types.mjs';
import '../../../../_/store5.mjs';
import '../../../../_/operations2.mjs';
import '../../../../_/log-files.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/references.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/store6.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/store7.mjs';
import '../../../../_/view4.mjs';
import '../../../../_/input.mjs';
import '../../../../_/addresses.mjs';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/operations3.mjs';
import '../../../../_/operations4.mjs';
import '../../../../_/claims.mjs';
import '../../../../_/referrers.mjs';
import '../../../../_/rules2.mjs';
import '../../../../_/written.mjs';
import '../../../../_/schema.mjs';
import '../../../../_/cron.mjs';
import '../../../../_/states3.mjs';
import '../../../../_/input2.mjs';
import '../../../../_/schema2.mjs';
import '../../../../_/schema3.mjs';
import '../../../../_/refs.mjs';
import '../../../../_/schema4.mjs';
import '../../../../_/query.mjs';
import '../../../../_/schema5.mjs';
import '../../../../_/schema6.mjs';
import '../../../../_/schema7.mjs';
import '../../../../_/watch-paths.mjs';
import '../../../../_/operations5.mjs';
import '../../../../_/operations6.mjs';
import '../../../../_/view5.mjs';
import '../../../../_/restart.mjs';
import 'node:dns/promises';
import '../../../../_/repository-file.mjs';
import '../../../../_/serving.mjs';
import 'universal-github-app-jwt';
import 'undici';
import '../../../../_/version.mjs';
import '../../../../_/jobs.mjs';
import '../../../../_/branches.mjs';
import '../../../../_/size-watch.mjs';
import '../../../../_/instances.mjs';
import '../../../../_/hosts2.mjs';
import '../../../../_/operations.mjs';
import '../../../../_/limits.mjs';
import '../../../../_/records.mjs';
import '../../../../_/protocol.mjs';
import 'node:tls';
import '../../../../_/source-tree.mjs';
import '../../../../_/filter.mjs';
import 'node:stream/promises';
import 'node:zlib';
import 're2js';
import '../../../../_/settled.mjs';
import '../../../../_/operations7.mjs';
import 'aws4fetch';
import '../../../../_/states4.mjs';
import 'tar-stream';
import '../../../../_/operations8.mjs';
import 'node:stream/consumers';
import '../../../../_/archives.mjs';
import '../../../../_/authorize.mjs';
import '../../../../_/operations9.mjs';
import '../../../../_/schema8.mjs';
import '../../../../_/delivery.mjs';
import '../../../../_/operations10.mjs';
import '../../../../_/table.mjs';
import '../../../../_/latest.mjs';
import 'node:sqlite';
import '../../../../_/latency-buckets.mjs';
import '../../../../_/operations11.mjs';
import '../../../../_/drain.mjs';
import '../../../../_/client.mjs';
import '../../../../_/find.mjs';
import '../../../../_/greeting.mjs';
import '../../../../_/ssh-key2.mjs';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';

const endpoint23 = defineEndpoint({
  summary: "Apply a blueprint",
  description: "Creates or updates what the file describes and deletes nothing; what is so already stays `unchanged`. The file is of the native dialect or a `render.yaml`. All of it is done, or nothing: a file with faults is one 400 that has each of them with line and column, in `error.details` too.",
  auth: "token",
  query: BlueprintQuery,
  body: {
    contentType: "application/yaml",
    description: "The file, or JSON that holds it; at most 2 MiB",
    json: BlueprintInput
  },
  response: BlueprintResult,
  errors: ["payload_too_large", "service_unavailable"],
  async handler({ event, query }) {
    const isFile = isYaml(event.node.req.headers["content-type"]);
    const input = isFile ? { yaml: await readText(event), dry_run: false } : validate(BlueprintInput, await readJson(event));
    const { yaml, dry_run, environment = query.environment, repo_url, branch } = input;
    const repository = repo_url === void 0 ? void 0 : { url: repo_url, branch: branch ?? null };
    const options = { dryRun: dry_run || query.dry_run, keepsHandSet: false };
    return applyBlueprint(useWorld(), yaml, { environment, repository }, options);
  }
});

export { endpoint23 as default };
