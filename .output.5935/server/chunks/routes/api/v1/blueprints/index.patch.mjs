import { v as viewBlueprint, p as patchBlueprint, f as findBlueprint } from '../../../../_/synced.mjs';
import { S as SyncedBlueprint, a as SyncedBlueprintPatch } from '../../../../_/synced-schema.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import '../../../../_/changes.mjs';
import '../../../../_/store.mjs';
import '../../../../_/same-repository.mjs';
import '../../../../_/url.mjs';
import '../../../../_/view.mjs';
import '../../../../_/states.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/store2.mjs';
import '../../../../_/view2.mjs';
import '../../../../_/store3.mjs';
import '../../../../_/internal-port.mjs';
import '../../../../_/states2.mjs';
import '../../../../_/view3.mjs';
import '../../../../_/public-address.mjs';
import '../../../../_/names.mjs';
import 'node:net';
import 'node:url';
import 'tldts';
import '../../../../_/bare-host.mjs';
import '../../../../_/store4.mjs';
import '../../../../_/hosts.mjs';
import '../../../../_/types.mjs';
import '../../../../_/store5.mjs';
import 'zod';
import '../../../../_/input.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/rules2.mjs';
import '../../../../_/requests.mjs';
import '../../../../_/refs.mjs';
import '../../../../_/query.mjs';
import '../../../../_/schema9.mjs';
import '../../../../_/schema.mjs';
import '../../../../_/cron.mjs';
import '../../../../_/kinds.mjs';
import '../../../../_/states3.mjs';
import '../../../../_/schema6.mjs';
import '../../../../_/input2.mjs';
import '../../../../_/schema2.mjs';
import '../../../../_/schema3.mjs';
import '../../../../_/schema4.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/references.mjs';
import '../../../../_/schema5.mjs';
import '../../../../_/schema7.mjs';
import '../../../../_/watch-paths.mjs';
import 'node:events';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../_/validate.mjs';
import 'node:http';
import 'node:https';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';

const endpoint21 = defineEndpoint({
  summary: "Change a synced blueprint",
  auth: "token",
  params: IdOrName,
  body: SyncedBlueprintPatch,
  response: SyncedBlueprint,
  errors: ["conflict"],
  handler: ({ params, body }) => viewBlueprint(patchBlueprint(findBlueprint(params.id), body))
});

export { endpoint21 as default };
