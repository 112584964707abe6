import { c as createDatastore } from '../../../_/operations5.mjs';
import { b as Datastore, D as DatastoreInput } from '../../../_/schema.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { b as providedDatastore } from '../../../_/settled.mjs';
import '../../../nitro/nitro.mjs';
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
import '../../../_/changes.mjs';
import '../../../_/store.mjs';
import '../../../_/machine.mjs';
import '../../../_/referrers.mjs';
import '../../../_/store6.mjs';
import '../../../_/references.mjs';
import '../../../_/kinds.mjs';
import '../../../_/states3.mjs';
import '../../../_/store7.mjs';
import '../../../_/cron.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';
import '../../../_/view4.mjs';
import '../../../_/store5.mjs';
import '../../../_/view.mjs';
import '../../../_/states.mjs';
import '../../../_/store2.mjs';
import '../../../_/view2.mjs';
import '../../../_/store3.mjs';
import '../../../_/internal-port.mjs';
import '../../../_/states2.mjs';
import '../../../_/view3.mjs';
import '../../../_/public-address.mjs';
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/store4.mjs';
import '../../../_/hosts.mjs';
import '../../../_/types.mjs';

const endpoint46 = defineEndpoint({
  summary: "Create a datastore",
  description: "It is `creating` until it answers its first client. One that cannot be made is answered with 201 too: its status is `failed` and `error` says why.",
  auth: "token",
  status: 201,
  body: DatastoreInput,
  response: Datastore,
  errors: ["conflict", "not_found"],
  handler: ({ body }) => providedDatastore(createDatastore(body))
});

export { endpoint46 as default };
