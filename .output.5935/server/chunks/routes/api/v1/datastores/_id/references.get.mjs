import { z } from 'zod';
import { q as findDatastore } from '../../../../../_/operations5.mjs';
import { c as DatastoreReference } from '../../../../../_/schema.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { b as referrersOf } from '../../../../../_/store6.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/states3.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/cron.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:net';
import '../../../../../_/references.mjs';

const endpoint43 = defineEndpoint({
  summary: "List the variables that refer to a datastore",
  description: "Those because of which it is not deleted without `force`.",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  response: z.array(DatastoreReference),
  handler({ params, query }) {
    const { environment_id, name } = findDatastore(params.id, query.environment);
    return referrersOf("datastore", environment_id, name);
  }
});

export { endpoint43 as default };
