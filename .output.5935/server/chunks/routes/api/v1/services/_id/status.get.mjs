import { I as timestamp, ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { c as viewService, a as instancesOf } from '../../../../../_/view.mjs';
import { a as freshContainers } from '../../../../../_/latest.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { f as findService } from '../../../../../_/operations3.mjs';
import { a as ServiceStatus } from '../../../../../_/schema5.mjs';
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
import '../../../../../_/states.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/view2.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/internal-port.mjs';
import '../../../../../_/states2.mjs';
import '../../../../../_/view3.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/store5.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/operations4.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/rules2.mjs';
import '../../../../../_/schema6.mjs';
import '../../../../../_/refs.mjs';
import '../../../../../_/schema7.mjs';

function serviceStatus(service) {
  const { state, live_deploy_id } = viewService(service);
  const figures = freshContainers();
  const instances = instancesOf(service.id).map((row) => statusOf(row, figures.get(row.id)));
  return { state, live_deploy_id, instances };
}
const STATES = {
  starting: "starting",
  ready: "running",
  failing: "failing",
  down: "exited",
  draining: "draining"
};
function statusOf(row, figures) {
  return {
    name: row.id,
    state: STATES[row.status],
    health: row.status === "ready" ? "healthy" : row.status === "failing" || row.status === "down" ? "unhealthy" : "unknown",
    started_at: timestamp(row.started_at),
    restarts: row.restarts,
    exit_code: row.exit_code,
    reason: row.reason,
    cpu_percent: figures?.cpuPercent ?? null,
    memory_bytes: figures?.memoryBytes ?? null
  };
}

const endpoint124 = defineEndpoint({
  summary: "Read what a service and its instances are doing",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  response: ServiceStatus,
  handler: ({ params, query }) => serviceStatus(findService(params.id, query.environment))
});

export { endpoint124 as default };
