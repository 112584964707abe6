import { q as findDatastore } from '../../../../../_/operations5.mjs';
import { b as Datastore, U as UpgradeInput } from '../../../../../_/schema.mjs';
import { v as viewDatastore } from '../../../../../_/view4.mjs';
import { d as defineEndpoint } from '../../../../../_/endpoint.mjs';
import { I as InEnvironment } from '../../../../../_/query.mjs';
import { u as upgradeDatastore } from '../../../../../_/operations8.mjs';
import { ax as IdOrName } from '../../../../../nitro/nitro.mjs';
import '../../../../../_/changes.mjs';
import '../../../../../_/store.mjs';
import '../../../../../_/machine.mjs';
import '../../../../../_/referrers.mjs';
import '../../../../../_/store6.mjs';
import '../../../../../_/references.mjs';
import '../../../../../_/kinds.mjs';
import '../../../../../_/states3.mjs';
import 'zod';
import '../../../../../_/store7.mjs';
import '../../../../../_/cron.mjs';
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

const endpoint44 = defineEndpoint({
  summary: "Take a datastore to a newer major version",
  description: "It is `upgrading`, and takes no writes, while a backup of it is restored into the new version beside the old. Then it is `available` with the new version, and what it held is kept for a day; or it is as before, and `error` says why.",
  auth: "token",
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: UpgradeInput,
  response: Datastore,
  errors: ["conflict"],
  handler: ({ params, query, body }) => viewDatastore(upgradeDatastore(findDatastore(params.id, query.environment), body.version))
});

export { endpoint44 as default };
