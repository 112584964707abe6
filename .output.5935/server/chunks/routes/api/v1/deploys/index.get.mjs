import { f as findDeploy } from '../../../../_/operations4.mjs';
import { D as Deploy, a as DeployRef } from '../../../../_/schema6.mjs';
import { v as viewDeploy } from '../../../../_/view2.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
import '../../../../nitro/nitro.mjs';
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
import '../../../../_/changes.mjs';
import '../../../../_/machine.mjs';
import '../../../../_/store5.mjs';
import '../../../../_/states.mjs';
import '../../../../_/store2.mjs';
import '../../../../_/refs.mjs';
import '../../../../_/query.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const endpoint48 = defineEndpoint({
  summary: "Read a deploy",
  auth: "token",
  params: DeployRef,
  response: Deploy,
  handler: ({ params }) => viewDeploy(findDeploy(params.deploy_id))
});

export { endpoint48 as default };
