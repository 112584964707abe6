import { z } from 'zod';
import { b as Datastore } from '../../../_/schema.mjs';
import { n as viewDatastores } from '../../../_/view4.mjs';
import { f as findEnvironment } from '../../../_/store.mjs';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../_/query.mjs';
import '../../../_/cron.mjs';
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
import '../../../_/kinds.mjs';
import '../../../_/states3.mjs';
import '../../../_/machine.mjs';
import '../../../_/store7.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';

const endpoint45 = defineEndpoint({
  summary: "List the datastores of an environment",
  auth: "token",
  query: InEnvironment,
  response: z.array(Datastore),
  errors: ["not_found"],
  handler: ({ query }) => viewDatastores(findEnvironment(query.environment))
});

export { endpoint45 as default };
