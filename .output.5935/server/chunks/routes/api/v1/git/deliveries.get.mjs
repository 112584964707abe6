import { z } from 'zod';
import { c as clampedLimit } from '../../../../_/query.mjs';
import { M as Timestamp, U as idSchema } from '../../../../nitro/nitro.mjs';
import { l as listDeliveries } from '../../../../_/log.mjs';
import { d as defineEndpoint } from '../../../../_/endpoint.mjs';
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
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';
import '../../../../_/validate.mjs';

const optional = (example) => z.string().nullable().meta({ examples: [example] });
const Delivery = z.object({
  id: idSchema("delivery"),
  at: Timestamp,
  event: optional("push"),
  delivery: optional("72d3162e-cc78-11e3-81ab-4c9367dc0958").meta({ description: "The provider's own id" }),
  repository: optional("octo-org/api"),
  ref: optional("refs/heads/main"),
  commit: optional("9fceb02d0ae598e95dc970b74767f19372d61af8"),
  verdict: z.enum(["deployed", "ignored", "refused"]).meta({ examples: ["deployed"] }),
  reason: optional(null).meta({ description: "Why not all, or nothing, was deployed" }),
  deploys: z.array(idSchema("deploy")).meta({ description: "What it deployed", examples: [["dep-4f1d0c9a7b3e5d2f6a80"]] })
}).meta({ id: "GitDelivery", description: "A delivery of the push webhook and what became of it" });
const DeliveriesQuery = z.strictObject({ limit: clampedLimit(50, 200) });

const endpoint77 = defineEndpoint({
  summary: "List the deliveries of the push webhook, newest first",
  description: "The last 200 that were proved by a secret. Of those that were refused the last 50 since the server started.",
  auth: "token",
  query: DeliveriesQuery,
  response: z.array(Delivery),
  handler: ({ query }) => listDeliveries(query.limit)
});

export { endpoint77 as default };
