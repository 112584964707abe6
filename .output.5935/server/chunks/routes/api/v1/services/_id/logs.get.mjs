import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { l as leftSignal, e as eventStream } from '../../../../../_/event-stream.mjs';
import { s as sendLog } from '../../../../../_/log-events.mjs';
import { S as ServiceLogQuery, o as openServiceLog } from '../../../../../_/schema13.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { f as findService } from '../../../../../_/operations3.mjs';
import 'zod';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import '../../../../../_/head.mjs';
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
import 'node:path';
import '../../../../../_/store2.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/filter.mjs';
import 'node:fs';
import 'node:stream/promises';
import 're2js';
import '../../../../../_/instances.mjs';
import '../../../../../_/worker-thread.mjs';
import 'node:worker_threads';
import '../../../../../_/slots.mjs';
import '../../../../../_/query.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:crypto';
import 'node:net';
import '../../../../../_/changes.mjs';
import '../../../../../_/operations4.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/operations2.mjs';
import '../../../../../_/internal-port.mjs';
import '../../../../../_/states2.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/rules2.mjs';
import '../../../../../_/view.mjs';
import '../../../../../_/view2.mjs';
import '../../../../../_/view3.mjs';

const endpoint118 = defineEndpoint({
  summary: "Read the output of a service's containers",
  description: "Also of containers that are gone: across deploys, crashes and restarts, for as long as it is kept. `tail` counts the lines that pass the filters.",
  auth: "token",
  params: IdOrName,
  query: ServiceLogQuery,
  response: eventStream("Events `log` with a LogLine, and `end` unless it follows"),
  errors: ["service_unavailable"],
  async handler({ event, params, query }) {
    const service = findService(params.id, query.environment);
    await sendLog(event, await openServiceLog(service.id, query, leftSignal(event)), query.follow);
  }
});

export { endpoint118 as default };
