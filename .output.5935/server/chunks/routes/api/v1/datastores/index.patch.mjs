import { p as patchDatastore, q as findDatastore } from '../../../../_/operations5.mjs';
import { b as Datastore, a as DatastorePatch } from '../../../../_/schema.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import { a as appliedDatastore } from '../../../../_/settled.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/store.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/referrers.mjs';
import '../../../../_/store6.mjs';
import '../../../../_/references.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/states3.mjs';
import 'zod';
import '../../../../_/store7.mjs';
import '../../../../_/cron.mjs';
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
import '../../../../_/view4.mjs';
import '../../../../_/store5.mjs';
import '../../../../_/view.mjs';
import '../../../../_/states.mjs';
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

const endpoint41 = defineEndpoint({
  summary: "Change the limits of a datastore",
  description: "Applied to the running container in place, without a restart. A memory limit below what it uses now can fail, or get it killed. One that could not be made or started is tried again at once, also when nothing is changed.",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  body: DatastorePatch,
  response: Datastore,
  errors: ["conflict", "runtime_error"],
  handler: ({ params, query, body }) => appliedDatastore(patchDatastore(findDatastore(params.id, query.environment), body))
});

export { endpoint41 as default };
