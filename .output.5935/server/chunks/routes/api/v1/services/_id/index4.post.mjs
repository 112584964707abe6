import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { h as requestJob } from '../../../../../_/operations2.mjs';
import { J as Job, b as JobInput } from '../../../../../_/schema7.mjs';
import { v as viewJob } from '../../../../../_/view3.mjs';
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
import '../../../../../_/changes.mjs';
import '../../../../../_/store2.mjs';
import '../../../../../_/states.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/log-files.mjs';
import 'node:fs/promises';
import 'node:path';
import '../../../../../_/store5.mjs';
import '../../../../../_/store3.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/internal-port.mjs';
import '../../../../../_/states2.mjs';
import '../../../../../_/qualified-name.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/rules.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/view4.mjs';
import '../../../../../_/public-address.mjs';
import '../../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../../_/bare-host.mjs';
import '../../../../../_/hosts.mjs';
import '../../../../../_/store4.mjs';
import '../../../../../_/types.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:crypto';
import '../../../../../_/operations4.mjs';
import '../../../../../_/claims.mjs';
import '../../../../../_/url.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/rules2.mjs';
import '../../../../../_/view.mjs';
import '../../../../../_/view2.mjs';

const endpoint117 = defineEndpoint({
  summary: "Run a command in a new container from the live image",
  description: "Without a command a cron job runs its own; while one runs this waits, and a second one is refused. With the service's variables, network and limits, without its disk.",
  auth: "token",
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: JobInput,
  response: Job,
  errors: ["conflict"],
  handler: ({ params, query, body }) => viewJob(requestJob(findService(params.id, query.environment), body))
});

export { endpoint117 as default };
