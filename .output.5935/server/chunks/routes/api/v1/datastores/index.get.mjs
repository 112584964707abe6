import { q as findDatastore } from '../../../../_/operations5.mjs';
import { b as Datastore } from '../../../../_/schema.mjs';
import { v as viewDatastore } from '../../../../_/view4.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
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

const endpoint40 = defineEndpoint({
  summary: "Read a datastore with its credentials",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  response: Datastore,
  handler: ({ params, query }) => viewDatastore(findDatastore(params.id, query.environment))
});

export { endpoint40 as default };
