import { z } from 'zod';
import { a as Backup } from '../../../../../_/schema12.mjs';
import { l as listBackups, q as findDatastore } from '../../../../../_/operations5.mjs';
import { v as viewBackup } from '../../../../../_/view7.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import '../../../../../_/states4.mjs';
import 'node:crypto';
import 'node:fs';
import 'node:fs/promises';
import 'node:path';
import '../../../../../_/machine.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/states3.mjs';
import '../../../../../_/store7.mjs';
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
import 'node:net';

const endpoint37 = defineEndpoint({
  summary: "List the backups of a datastore, newest first",
  auth: "token",
  params: IdOrName,
  query: InEnvironment,
  response: z.array(Backup),
  handler: ({ params, query }) => listBackups(findDatastore(params.id, query.environment).id).map(viewBackup)
});

export { endpoint37 as default };
