import { q as findDatastore } from '../../../../../_/operations5.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { l as leftSignal, e as eventStream } from '../../../../../_/event-stream.mjs';
import { s as sendLog } from '../../../../../_/log-events.mjs';
import { D as DatastoreLogQuery, o as openServiceLog } from '../../../../../_/schema13.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/states3.mjs';
import 'zod';
import '../../../../../_/store7.mjs';
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

const endpoint42 = defineEndpoint({
  summary: "Read what a datastore prints",
  description: "Also of containers that are gone: across crashes, restores and upgrades, for as long as it is kept. `tail` counts the lines that pass the filters.",
  auth: "token",
  params: IdOrName,
  query: DatastoreLogQuery,
  response: eventStream("Events `log` with a LogLine, and `end` unless it follows"),
  errors: ["service_unavailable"],
  async handler({ event, params, query }) {
    const { id } = findDatastore(params.id, query.environment);
    await sendLog(event, await openServiceLog(id, query, leftSignal(event)), query.follow);
  }
});

export { endpoint42 as default };
