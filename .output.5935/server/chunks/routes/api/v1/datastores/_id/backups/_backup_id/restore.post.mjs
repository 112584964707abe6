import { i as findBackup } from '../../../../../../../_/operations7.mjs';
import { R as RestoreInput, B as BackupPath } from '../../../../../../../_/schema12.mjs';
import { q as findDatastore } from '../../../../../../../_/operations5.mjs';
import { b as Datastore } from '../../../../../../../_/schema.mjs';
import { v as viewDatastore } from '../../../../../../../_/view4.mjs';
import { d as defineEndpoint } from '../../../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../../../_/query.mjs';
import { r as restoreBackup } from '../../../../../../../_/operations8.mjs';
import '../../../../../../../_/changes.mjs';
import '../../../../../../../nitro/nitro.mjs';
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
import '../../../../../../../_/store7.mjs';
import '../../../../../../../_/store.mjs';
import '../../../../../../../_/machine.mjs';
import 'node:fs/promises';
import 'node:stream';
import 'node:timers/promises';
import 'aws4fetch';
import '../../../../../../../_/answer-of.mjs';
import '../../../../../../../_/kinds.mjs';
import '../../../../../../../_/states4.mjs';
import '../../../../../../../_/referrers.mjs';
import '../../../../../../../_/store6.mjs';
import '../../../../../../../_/references.mjs';
import '../../../../../../../_/states3.mjs';
import '../../../../../../../_/cron.mjs';
import '../../../../../../../_/send.mjs';
import '../../../../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../../../../_/validate.mjs';

const endpoint36 = defineEndpoint({
  summary: "Restore a backup",
  description: "With a `name` into a new datastore, else into its own: what that holds serves on until the backup stands beside it, is then replaced and kept for a day. The datastore is `restoring` meanwhile; a backup that cannot be restored changes nothing but `error`.",
  auth: "token",
  status: 202,
  params: BackupPath,
  query: InEnvironment,
  body: RestoreInput,
  response: Datastore,
  errors: ["conflict"],
  handler({ params, query, body }) {
    const datastore = findDatastore(params.id, query.environment);
    return viewDatastore(restoreBackup(datastore, findBackup(datastore, params.backup_id), body.name));
  }
});

export { endpoint36 as default };
