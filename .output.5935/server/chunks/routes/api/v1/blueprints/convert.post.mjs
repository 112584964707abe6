import { c as convertComposeAside } from '../../../../_/reading-thread.mjs';
import { C as ConvertResult, c as ConvertInput, i as isYaml } from '../../../../_/requests.mjs';
import { d as defineEndpoint, r as readText, a as readJson } from '../../../../_/endpoint.mjs';
import { o as originOf } from '../../../../_/origin.mjs';
import { v as validate } from '../../../../_/validate.mjs';
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
import '../../../../_/slots.mjs';
import '../../../../_/worker-thread.mjs';
import 'node:worker_threads';
import '../../../../_/input.mjs';
import '../../../../_/bare-host.mjs';
import '../../../../_/addresses.mjs';
import 'node:os';
import '../../../../_/judged.mjs';
import 'node:dns';
import '../../../../_/url.mjs';
import '../../../../_/refs.mjs';
import '../../../../_/query.mjs';
import 'node:stream';
import 'node:timers/promises';
import '../../../../_/send.mjs';
import '../../../../_/compression.mjs';
import 'node:zlib';

const endpoint24 = defineEndpoint({
  summary: "Convert a file of Compose into a blueprint",
  description: "Answers the native text, and warnings about what is not quite the same. Nothing is applied.",
  auth: "token",
  body: {
    contentType: "application/yaml",
    description: "A `docker-compose.yml`, or JSON that holds it; at most 2 MiB",
    json: ConvertInput
  },
  response: ConvertResult,
  errors: ["payload_too_large", "service_unavailable"],
  async handler({ event }) {
    const isFile = isYaml(event.node.req.headers["content-type"]);
    const compose = isFile ? await readText(event) : validate(ConvertInput, await readJson(event)).compose;
    return convertComposeAside(compose, originOf(event));
  }
});

export { endpoint24 as default };
