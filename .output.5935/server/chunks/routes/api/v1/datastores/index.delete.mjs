import { z } from 'zod';
import { r as removedDatastore } from '../../../../_/settled.mjs';
import { q as findDatastore, t as deleteDatastore } from '../../../../_/operations5.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { Q as QueryBoolean, I as InEnvironment } from '../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import 'node:events';
import '../../../../_/store7.mjs';
import '../../../../_/view4.mjs';
import '../../../../_/store.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/store5.mjs';
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
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/types.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/referrers.mjs';
import '../../../../_/store6.mjs';
import '../../../../_/references.mjs';
import '../../../../_/states3.mjs';
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

const endpoint39 = defineEndpoint({
  summary: "Delete a datastore with its data",
  description: "Refused while services' variables refer to it, while it is upgraded, and while another is filled from one of its backups, which go with it, unless `force`.",
  auth: "token",
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, force: QueryBoolean }),
  errors: ["conflict", "runtime_error"],
  async handler({ params, query }) {
    const datastore = findDatastore(params.id, query.environment);
    deleteDatastore(datastore, query.force);
    await removedDatastore(datastore.id);
  }
});

export { endpoint39 as default };
