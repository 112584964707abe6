import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import { p as patchService, f as findService } from '../../../../_/operations3.mjs';
import { S as ServicePatch } from '../../../../_/input2.mjs';
import { S as Service } from '../../../../_/schema5.mjs';
import { c as viewService } from '../../../../_/view.mjs';
import { d as routed, c as useWorld } from '../../../../_/index.mjs';
import { d as applied } from '../../../../_/settled.mjs';
import 'zod';
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
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:net';
import '../../../../_/changes.mjs';
import '../../../../_/operations4.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/store5.mjs';
import '../../../../_/states.mjs';
import '../../../../_/store2.mjs';
import '../../../../_/claims.mjs';
import '../../../../_/store.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/types.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store3.mjs';
import '../../../../_/url.mjs';
import '../../../../_/operations2.mjs';
import '../../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../../_/internal-port.mjs';
import '../../../../_/states2.mjs';
import '../../../../_/references.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/store6.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/store7.mjs';
import '../../../../_/view4.mjs';
import '../../../../_/public-address.mjs';
import '../../../../_/referrers.mjs';
import '../../../../_/rules2.mjs';
import '../../../../_/schema2.mjs';
import '../../../../_/schema3.mjs';
import '../../../../_/refs.mjs';
import '../../../../_/input.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/cron.mjs';
import '../../../../_/schema4.mjs';
import '../../../../_/watch-paths.mjs';
import '../../../../_/schema6.mjs';
import '../../../../_/schema7.mjs';
import '../../../../_/view2.mjs';
import '../../../../_/view3.mjs';
import '../../../../_/reading-thread.mjs';
import '../../../../_/slots.mjs';
import '../../../../_/worker-thread.mjs';
import 'node:worker_threads';
import '../../../../_/run-each.mjs';
import 'dockerode';
import '../../../../_/answer-of.mjs';
import 'node:http2';
import 'node:child_process';
import '../../../../_/synced.mjs';
import '../../../../_/same-repository.mjs';
import '../../../../_/written.mjs';
import '../../../../_/schema.mjs';
import '../../../../_/states3.mjs';
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
import 're2js';
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

const endpoint115 = defineEndpoint({
  summary: "Change a service",
  description: "Build settings take effect on the next deploy; an empty string clears an optional text.",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  body: ServicePatch,
  response: Service,
  errors: ["conflict", "runtime_error"],
  async handler({ params, query, body }) {
    const service = patchService(findService(params.id, query.environment), body);
    if (isRouting(body)) await routed(useWorld());
    return takesEffectNow(body) ? applied(service) : viewService(service);
  }
});
function isRouting({ custom_domains, canonical_domain, compression }) {
  return custom_domains !== void 0 || canonical_domain !== void 0 || compression !== void 0;
}
function takesEffectNow({ name, instances, suspended }) {
  return name !== void 0 || instances !== void 0 || suspended !== void 0;
}

export { endpoint115 as default };
