import { B as defineEventHandler, C as refusalOfUnmatched, D as setResponseHeaders } from '../nitro/nitro.mjs';
import { i as isKnown } from '../_/conditional.mjs';
import { i as isDashboardPath } from '../_/pages.mjs';
import { C as ConstantText } from '../_/send.mjs';
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
import '../_/compression.mjs';
import 'node:zlib';

const page = "<!doctype html>\n<html lang=\"en\">\n  <head>\n    <script src=\"/assets/head-CWZW12ch.js\"></script>\n\n    <meta charset=\"utf-8\" />\n    <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\" />\n    <meta name=\"color-scheme\" content=\"light dark\" />\n    <title>Deployer</title>\n    <link rel=\"icon\" type=\"image/svg+xml\" href=\"/assets/favicon-GPQQ-Mih.svg\" />\n    <script type=\"module\" crossorigin src=\"/assets/index-BqvC9SFl.js\"></script>\n    <link rel=\"modulepreload\" crossorigin href=\"/assets/vue-DFeIdzqG.js\">\n    <link rel=\"modulepreload\" crossorigin href=\"/assets/address-D5ylik_Y.js\">\n    <link rel=\"modulepreload\" crossorigin href=\"/assets/index-BqvC9SFl.js\">\n    <link rel=\"modulepreload\" crossorigin href=\"/assets/ui-kEpJGmnM.js\">\n    <link rel=\"stylesheet\" crossorigin href=\"/assets/index-DninQYV9.css\">\n  </head>\n  <body>\n    <div id=\"app\">\n      <p id=\"unloaded\" role=\"alert\" class=\"mx-auto max-w-lg p-6 pt-24\" hidden>\n        The dashboard could not be loaded. <a href=\"\" class=\"text-link\">Load it again</a>\n      </p>\n    </div>\n    <noscript\n      >The dashboard needs JavaScript. The same things can be done over the HTTP API: /api/docs</noscript\n    >\n  </body>\n</html>\n";
const etag = "W/\"3VR14_bhNf4npYFeD_gIqKE3mo0\"";

const POLICY = [
  "default-src 'self'",
  "script-src 'self'",
  "style-src 'self' 'unsafe-inline'",
  "font-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'"
].join("; ");
const SENDS_FORMS = "/git/register";
function pageHeaders(path) {
  const forms = path === SENDS_FORMS ? "'self' https: http:" : "'self'";
  return {
    "content-security-policy": `${POLICY}; form-action ${forms}`,
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cache-control": "no-cache"
  };
}

const dashboard = new ConstantText(page, "text/html; charset=utf-8");
const ____path__get = defineEventHandler(async (event) => {
  const path = event.path.split("?")[0];
  if (!isDashboardPath(path)) throw await refusalOfUnmatched(event);
  setResponseHeaders(event, pageHeaders(path));
  if (!isKnown(event, etag)) await dashboard.send(event);
});

export { ____path__get as default };
