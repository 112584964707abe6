import { z } from 'zod';
import { d as defineEndpoint, s as skipBody, B as BODY_LIMIT_BYTES } from '../../../_/endpoint.mjs';
import { D as Deploy } from '../../../_/schema6.mjs';
import { v as viewDeploy } from '../../../_/view2.mjs';
import { H as HookQuery, f as findHooked, r as runDeployHook } from '../../../_/hook.mjs';
import '../../../nitro/nitro.mjs';
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

const endpoint130 = defineEndpoint({
  summary: "Deploy by the secret URL of a service (POST)",
  description: "As a manual deploy does: the configured source, or what `ref` or `image` names of it.",
  auth: "none",
  status: 202,
  params: z.strictObject({ service_id: z.string().meta({ examples: ["srv-4f1d0c9a7b3e5d2f6a80"] }) }),
  query: HookQuery,
  body: { contentType: "*/*", description: "Ignored: any sender of web hooks may call it" },
  response: Deploy,
  errors: ["unauthorized", "conflict"],
  async handler({ event, params, query }) {
    findHooked(params.service_id, query.key);
    await skipBody(event, BODY_LIMIT_BYTES);
    return viewDeploy(runDeployHook(params.service_id, query));
  }
});

export { endpoint130 as default };
