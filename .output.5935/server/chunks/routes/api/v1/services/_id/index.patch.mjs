import { z } from 'zod';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import { f as findService } from '../../../../../_/operations3.mjs';
import { r as restartChanged } from '../../../../../_/restart.mjs';
import { b as EnvVar, a as EnvPatch, d as EnvQuery } from '../../../../../_/schema4.mjs';
import { c as changeVariables } from '../../../../../_/variables.mjs';
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
import '../../../../../_/changes.mjs';
import '../../../../../_/operations4.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/store5.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/store2.mjs';
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
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
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
import '../../../../../_/query.mjs';

const endpoint111 = defineEndpoint({
  summary: "Set some of a service's variables and remove others",
  description: "Checked alone and with the linked groups. They reach containers at the next deploy or restart; `restart` queues one for each live service whose environment this changed.",
  auth: "token",
  params: IdOrName,
  query: EnvQuery,
  body: EnvPatch,
  response: z.array(EnvVar),
  errors: ["conflict"],
  handler({ params, query, body }) {
    const service = findService(params.id, query.environment);
    return restartChanged(
      query.restart,
      [service.environment_id],
      () => changeVariables(service, body.set, body.unset)
    );
  }
});

export { endpoint111 as default };
