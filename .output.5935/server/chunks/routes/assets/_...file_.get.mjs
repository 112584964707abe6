import { readFile } from 'node:fs/promises';
import { join, dirname } from 'node:path';
import { B as defineEventHandler, C as refusalOfUnmatched, aE as getRequestHeader, D as setResponseHeaders } from '../../nitro/nitro.mjs';
import { a as assetAt, b as assets } from '../../_/pages.mjs';
import { e as encodingFor } from '../../_/compression.mjs';
import { i as isKnown } from '../../_/conditional.mjs';
import 'node:http';
import 'node:https';
import 'node:events';
import 'node:buffer';
import 'node:fs';
import 'node:crypto';
import 'node:util';
import 'node:net';
import 'zod';
import 'node:zlib';

const KEPT = { "cache-control": `public, max-age=${365 * 24 * 60 * 60}, immutable` };
const SUFFIXES = { br: ".br", gzip: ".gz" };
const read = /* @__PURE__ */ new Map();
const ____file__get = defineEventHandler(async (event) => {
  const path = event.path.split("?")[0];
  const plain = assetAt(path);
  if (!plain) throw await refusalOfUnmatched(event);
  const encoding = encodingFor(getRequestHeader(event, "accept-encoding"));
  const compressed = encoding && assets[path + SUFFIXES[encoding]];
  const { etag, size, path: file } = compressed ?? plain;
  const bytes = await bytesOf(file);
  setResponseHeaders(event, KEPT);
  if (isKnown(event, etag)) return;
  setResponseHeaders(event, {
    "content-type": plain.type,
    "content-length": size,
    ...compressed && { "content-encoding": encoding }
  });
  event.node.res.end(bytes);
});
function bytesOf(file) {
  const known = read.get(file);
  if (known) return known;
  const bytes = readFile(join(dirname(process.argv[1]), file));
  read.set(file, bytes);
  bytes.catch(() => read.delete(file));
  return bytes;
}

export { ____file__get as default };
