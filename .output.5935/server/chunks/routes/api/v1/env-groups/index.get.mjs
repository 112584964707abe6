import { E as EnvGroup } from '../../../../_/schema14.mjs';
import { f as findEnvGroup } from '../../../../_/store3.mjs';
import { v as viewEnvGroup } from '../../../../_/view5.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import { ax as IdOrName } from '../../../../nitro/nitro.mjs';
import 'zod';
import '../../../../_/query.mjs';
import '../../../../_/schema4.mjs';
import '../../../../_/rules.mjs';
import '../../../../_/references.mjs';
import '../../../../_/qualified-name.mjs';
import '../../../../_/store.mjs';
import '../../../../_/store6.mjs';
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
import 'node:net';

const endpoint60 = defineEndpoint({
  summary: "Read an env group",
  auth: "token",
  params: IdOrName,
  response: EnvGroup,
  handler: ({ params }) => viewEnvGroup(findEnvGroup(params.id))
});

export { endpoint60 as default };
