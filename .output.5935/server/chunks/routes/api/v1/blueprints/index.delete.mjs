import { d as deleteBlueprint, f as findBlueprint } from '../../../../_/synced.mjs';
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

const endpoint19 = defineEndpoint({
  summary: "End the sync of a blueprint",
  description: "What it made stays.",
  auth: "token",
  params: IdOrName,
  handler: ({ params }) => deleteBlueprint(findBlueprint(params.id))
});

export { endpoint19 as default };
