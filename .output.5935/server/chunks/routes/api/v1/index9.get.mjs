import { z } from 'zod';
import { f as findEnvironment } from '../../../_/store.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../_/query.mjs';
import { S as Service } from '../../../_/schema5.mjs';
import { e as viewServices } from '../../../_/view.mjs';
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
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';
import '../../../_/schema6.mjs';
import '../../../_/refs.mjs';
import '../../../_/states.mjs';
import '../../../_/machine.mjs';
import '../../../_/schema7.mjs';
import '../../../_/states2.mjs';
import '../../../_/types.mjs';
import '../../../_/store2.mjs';
import '../../../_/view2.mjs';
import '../../../_/store3.mjs';
import '../../../_/internal-port.mjs';
import '../../../_/view3.mjs';
import '../../../_/public-address.mjs';
import '../../../_/names.mjs';
import 'node:url';
import 'tldts';
import '../../../_/bare-host.mjs';
import '../../../_/store4.mjs';
import '../../../_/hosts.mjs';
import '../../../_/store5.mjs';

const endpoint126 = defineEndpoint({
  summary: "List the services of an environment",
  auth: "token",
  keptFrom: "database",
  query: InEnvironment,
  response: z.array(Service),
  handler: ({ query }) => viewServices(findEnvironment(query.environment))
});

export { endpoint126 as default };
