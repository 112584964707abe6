import { k as requestBackup } from '../../../../../_/operations7.mjs';
import { a as Backup } from '../../../../../_/schema12.mjs';
import { v as viewBackup } from '../../../../../_/view7.mjs';
import { q as findDatastore } from '../../../../../_/operations5.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store7.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/machine.mjs';
import 'node:crypto';
import 'node:fs/promises';
import 'node:stream';
import 'node:http';
import 'node:https';
import 'node:timers/promises';
import 'aws4fetch';
import '../../../../../_/answer-of.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/states4.mjs';
import 'node:fs';
import 'node:path';
import 'zod';
import '../../../../../_/referrers.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/states3.mjs';
import 'node:events';
import '../../../../../_/send.mjs';
import '../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../_/validate.mjs';
import 'node:buffer';
import 'node:net';

const endpoint38 = defineEndpoint({
  summary: "Back a datastore up",
  description: "The backup is `running` until its file is whole. One at a time; those beyond `backup_retention` are removed, the oldest first.",
  auth: "token",
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  response: Backup,
  errors: ["conflict"],
  handler: ({ params, query }) => viewBackup(requestBackup(findDatastore(params.id, query.environment)))
});

export { endpoint38 as default };
