import { z } from 'zod';
import { c as removed } from '../../../../_/settled.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { Q as QueryBoolean, I as InEnvironment } from '../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import { f as findService, d as deleteService } from '../../../../_/operations3.mjs';
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
import '../../../../_/changes.mjs';
import '../../../../_/operations4.mjs';
import '../../../../_/claims.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/url.mjs';
import '../../../../_/operations2.mjs';
import '../../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../../_/references.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/store6.mjs';
import '../../../../_/referrers.mjs';
import '../../../../_/rules2.mjs';

const endpoint113 = defineEndpoint({
  summary: "Delete a service with its containers, deploys and variables",
  description: "Refused while other services' variables refer to it unless `force`.",
  auth: "token",
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, force: QueryBoolean }),
  errors: ["conflict", "runtime_error"],
  async handler({ params, query }) {
    const service = findService(params.id, query.environment);
    deleteService(service, query.force);
    await removed(service.id);
  }
});

export { endpoint113 as default };
