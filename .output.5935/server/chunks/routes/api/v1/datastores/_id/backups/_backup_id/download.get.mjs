import { h as downloadOf, i as findBackup } from '../../../../../../../_/operations7.mjs';
import { B as BackupPath } from '../../../../../../../_/schema12.mjs';
import { q as findDatastore } from '../../../../../../../_/operations5.mjs';
import { d as defineEndpoint } from '../../../../../../../_/endpoint.mjs';
import { pipeline } from 'node:stream/promises';
import { D as setResponseHeaders, _ as setResponseStatus, $ as setResponseHeader, J as useContext, A as AppError } from '../../../../../../../nitro/nitro.mjs';
import { c as conditionsOf, p as precondition, r as rangeOf } from '../../../../../../../_/conditional.mjs';
import { i as isHead } from '../../../../../../../_/head.mjs';
import { I as InEnvironment } from '../../../../../../../_/query.mjs';
import '../../../../../../../_/changes.mjs';
import '../../../../../../../_/store7.mjs';
import '../../../../../../../_/store.mjs';
import '../../../../../../../_/machine.mjs';
import 'node:crypto';
import 'node:fs/promises';
import 'node:stream';
import 'node:http';
import 'node:https';
import 'node:timers/promises';
import 'aws4fetch';
import '../../../../../../../_/answer-of.mjs';
import '../../../../../../../_/kinds.mjs';
import '../../../../../../../_/states4.mjs';
import 'node:fs';
import 'node:path';
import 'zod';
import '../../../../../../../_/referrers.mjs';
import '../../../../../../../_/store6.mjs';
import '../../../../../../../_/references.mjs';
import '../../../../../../../_/states3.mjs';
import 'node:events';
import '../../../../../../../_/send.mjs';
import '../../../../../../../_/compression.mjs';
import 'node:util';
import 'node:zlib';
import '../../../../../../../_/validate.mjs';
import 'node:buffer';
import 'node:net';

async function sendFile(event, download) {
  const { req, res } = event.node;
  const { size, name, etag, modifiedAt } = download;
  const range = wantedPart(event, download);
  const validators = {
    etag,
    "last-modified": new Date(modifiedAt).toUTCString(),
    "accept-ranges": "bytes"
  };
  if (range === "none") {
    setResponseHeaders(event, validators);
    setResponseStatus(event, 304);
    return void res.end();
  }
  const stream = await download.open(range);
  if (range) {
    setResponseStatus(event, 206);
    setResponseHeader(event, "content-range", `bytes ${range.start}-${range.end - 1}/${size}`);
  }
  setResponseHeaders(event, {
    ...validators,
    "content-type": "application/octet-stream",
    "content-length": range ? range.end - range.start : size,
    "content-disposition": `attachment; filename="${name}"`
  });
  res.flushHeaders();
  if (isHead(req)) {
    stream.destroy();
    res.end();
    return;
  }
  await pipeline(stream, res, { signal: useContext().stopping }).catch(() => res.destroy());
}
function wantedPart(event, { size, ...validators }) {
  const { req } = event.node;
  const conditions = conditionsOf(req);
  const verdict = precondition(conditions, validators);
  if (verdict === 304) return "none";
  if (verdict === 412)
    throw new AppError(
      "precondition_failed",
      "If-Match or If-Unmodified-Since asks for another content than there is"
    );
  const range = isHead(req) ? null : rangeOf(conditions, size, validators);
  if (range !== "unsatisfiable") return range;
  setResponseHeader(event, "content-range", `bytes */${size}`);
  throw new AppError("range_not_satisfiable", `the range begins beyond the ${size} bytes that there are`);
}

const endpoint33 = defineEndpoint({
  summary: "Download a backup",
  description: "For `pg_restore` from a relational datastore; an RDB file from a key-value store. A download that was cut goes on with `Range`; its `ETag` is for `If-Range`.",
  auth: "token",
  params: BackupPath,
  query: InEnvironment,
  response: { contentType: "application/octet-stream", description: "The file", ranges: true },
  errors: ["conflict", "io_error"],
  async handler({ event, params, query }) {
    const datastore = findDatastore(params.id, query.environment);
    await sendFile(event, downloadOf(datastore, findBackup(datastore, params.backup_id)));
  }
});

export { endpoint33 as default };
