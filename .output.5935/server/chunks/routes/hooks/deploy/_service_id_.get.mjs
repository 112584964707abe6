import { $ as setResponseHeader, A as AppError } from '../../../nitro/nitro.mjs';
import { z } from 'zod';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { i as isHead } from '../../../_/head.mjs';
import { D as Deploy } from '../../../_/schema6.mjs';
import { v as viewDeploy } from '../../../_/view2.mjs';
import { H as HookQuery, r as runDeployHook } from '../../../_/hook.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:path';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'node:stream';
import 'node:timers/promises';
import '../../../_/send.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';
import '../../../_/validate.mjs';
import '../../../_/refs.mjs';
import '../../../_/query.mjs';
import '../../../_/states.mjs';
import '../../../_/machine.mjs';
import '../../../_/rules2.mjs';
import '../../../_/store5.mjs';
import '../../../_/operations4.mjs';
import '../../../_/changes.mjs';
import '../../../_/store2.mjs';

const endpoint129 = defineEndpoint({
  summary: "Deploy by the secret URL of a service (GET)",
  description: "As a manual deploy does: the configured source, or what `ref` or `image` names of it.",
  auth: "none",
  status: 202,
  params: z.strictObject({ service_id: z.string().meta({ examples: ["srv-4f1d0c9a7b3e5d2f6a80"] }) }),
  query: HookQuery,
  response: Deploy,
  errors: ["unauthorized", "conflict", "method_not_allowed"],
  handler({ event, params, query }) {
    if (isHead(event.node.req)) {
      setResponseHeader(event, "allow", "GET, POST");
      throw new AppError("method_not_allowed", "a deploy hook takes GET and POST, not HEAD");
    }
    return viewDeploy(runDeployHook(params.service_id, query));
  }
});

export { endpoint129 as default };
