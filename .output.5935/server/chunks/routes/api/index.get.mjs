import { D as setResponseHeaders } from '../../nitro/nitro.mjs';
import { d as defineEndpoint } from '../../_/endpoint.mjs';
import { C as ConstantText } from '../../_/send.mjs';
import { b as DOCS_PAGE, a as DOCS_HEADERS } from '../../_/page.mjs';
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
import 'node:stream';
import 'node:timers/promises';
import '../../_/validate.mjs';
import '../../_/compression.mjs';
import 'node:zlib';

const page = new ConstantText(DOCS_PAGE, "text/html; charset=utf-8");
const endpoint2 = defineEndpoint({
  summary: "Read and try the API in a browser",
  auth: "none",
  response: { contentType: "text/html", description: "The interactive page of the API" },
  async handler({ event }) {
    setResponseHeaders(event, DOCS_HEADERS);
    await page.send(event);
  }
});

export { endpoint2 as default };
