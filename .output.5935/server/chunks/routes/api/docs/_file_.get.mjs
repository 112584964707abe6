import { A as AppError, D as setResponseHeaders } from '../../../nitro/nitro.mjs';
import { z } from 'zod';
import { d as defineEndpoint } from '../../../_/endpoint.mjs';
import { C as ConstantText } from '../../../_/send.mjs';
import { D as DOCS_SCRIPT, a as DOCS_HEADERS } from '../../../_/page.mjs';
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
import '../../../_/validate.mjs';
import '../../../_/compression.mjs';
import 'node:zlib';

const JAVASCRIPT = "text/javascript; charset=utf-8";
const CSS = "text/css; charset=utf-8";
const FILES = /* @__PURE__ */ new Map([
  ["start.js", once(() => Promise.resolve(DOCS_SCRIPT), JAVASCRIPT)],
  [
    "swagger-ui-bundle.js",
    once(
      async () => (await import('../../../raw/swagger-ui-bundle.mjs')).default,
      JAVASCRIPT
    )
  ],
  [
    "swagger-ui.css",
    once(async () => (await import('../../../raw/swagger-ui.mjs')).default, CSS)
  ]
]);
const endpoint1 = defineEndpoint({
  summary: "Read a file of the interactive page",
  auth: "none",
  params: z.strictObject({ file: z.string() }),
  response: { contentType: "text/javascript", description: "The file" },
  async handler({ event, params }) {
    const file = FILES.get(params.file);
    if (!file) throw new AppError("not_found", `the page of the API has no file ${params.file}`);
    const text = await file();
    setResponseHeaders(event, DOCS_HEADERS);
    await text.send(event);
  }
});
function once(read, type) {
  let made;
  return () => made ??= read().then((text) => new ConstantText(text, type));
}

export { endpoint1 as default };
