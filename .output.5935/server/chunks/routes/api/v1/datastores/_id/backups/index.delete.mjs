import { j as deleteBackup, i as findBackup } from '../../../../../../_/operations7.mjs';
import { B as BackupPath } from '../../../../../../_/schema12.mjs';
import { q as findDatastore } from '../../../../../../_/operations5.mjs';
import { d as defineEndpoint } from '../../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../../_/query.mjs';
import '../../../../../../_/changes.mjs';
import '../../../../../../nitro/nitro.mjs';
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
import '../../../../../../_/store7.mjs';
import '../../../../../../_/store.mjs';
import '../../../../../../_/machine.mjs';
import 'node:fs/promises';
import 'node:stream';
import 'node:timers/promises';
import 'aws4fetch';
import '../../../../../../_/answer-of.mjs';
import '../../../../../../_/kinds.mjs';
import '../../../../../../_/states4.mjs';
import '../../../../../../_/referrers.mjs';
import '../../../../../../_/store6.mjs';
import '../../../../../../_/references.mjs';
import '../../../../../../_/states3.mjs';
import '../../../../../../_/send.mjs';
import '../../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../../_/validate.mjs';

const endpoint34 = defineEndpoint({
  summary: "Delete a backup",
  auth: "token",
  params: BackupPath,
  query: InEnvironment,
  errors: ["conflict"],
  handler: ({ params, query }) => deleteBackup(findBackup(findDatastore(params.id, query.environment), params.backup_id))
});

export { endpoint34 as default };
