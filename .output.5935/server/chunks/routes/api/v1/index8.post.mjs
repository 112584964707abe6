import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { c as createService } from '../../../_/operations3.mjs';
import { a as ServiceInput } from '../../../_/input2.mjs';
import { S as Service } from '../../../_/schema5.mjs';
import { c as viewService } from '../../../_/view.mjs';
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
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';
import '../../../_/changes.mjs';
import '../../../_/operations4.mjs';
import '../../../_/machine.mjs';
import '../../../_/store5.mjs';
import '../../../_/states.mjs';
import '../../../_/store2.mjs';
import '../../../_/claims.mjs';
import '../../../_/store.mjs';
import '../../../_/hosts.mjs';
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/store4.mjs';
import '../../../_/types.mjs';
import '../../../_/qualified-name.mjs';
import '../../../_/store3.mjs';
import '../../../_/url.mjs';
import '../../../_/operations2.mjs';
import '../../../_/log-files.mjs';
import 'node:fs/promises';
import '../../../_/internal-port.mjs';
import '../../../_/states2.mjs';
import '../../../_/references.mjs';
import '../../../_/rules.mjs';
import '../../../_/store6.mjs';
import '../../../_/kinds.mjs';
import '../../../_/store7.mjs';
import '../../../_/view4.mjs';
import '../../../_/public-address.mjs';
import '../../../_/referrers.mjs';
import '../../../_/rules2.mjs';
import '../../../_/schema2.mjs';
import '../../../_/schema3.mjs';
import '../../../_/refs.mjs';
import '../../../_/input.mjs';
import '../../../_/addresses.mjs';
import 'node:os';
import '../../../_/judged.mjs';
import 'node:dns';
import '../../../_/cron.mjs';
import '../../../_/schema4.mjs';
import '../../../_/query.mjs';
import '../../../_/watch-paths.mjs';
import '../../../_/schema6.mjs';
import '../../../_/schema7.mjs';
import '../../../_/view2.mjs';
import '../../../_/view3.mjs';

const endpoint127 = defineEndpoint({
  summary: "Create a service",
  description: "Queues a first deploy when the service has a repository or an image, unless `deploy` is false.",
  auth: "token",
  status: 201,
  body: ServiceInput,
  response: Service,
  errors: ["conflict"],
  handler: ({ body }) => viewService(createService(body))
});

export { endpoint127 as default };
