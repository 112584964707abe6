import { D as setResponseHeaders, _ as setResponseStatus } from '../nitro/nitro.mjs';

const RANGE = /^bytes=[ \t]*(?:(\d{1,15})-(\d{0,15})|-(\d{1,15}))[ \t]*$/i;
function precondition(request, { etag, modifiedAt }) {
  if (request.ifMatch !== null) {
    if (!lists(request.ifMatch, etag, false)) return 412;
  } else if (request.ifUnmodifiedSince !== null) {
    const since2 = dateOf(request.ifUnmodifiedSince);
    if (since2 !== null && seconds(modifiedAt) > since2) return 412;
  }
  if (request.ifNoneMatch !== null) return lists(request.ifNoneMatch, etag, true) ? 304 : 200;
  if (request.ifModifiedSince === null) return 200;
  const since = dateOf(request.ifModifiedSince);
  return since !== null && seconds(modifiedAt) <= since ? 304 : 200;
}
function rangeOf(request, size, { etag, modifiedAt }) {
  const [range, first, last, suffix] = (request.range === null ? null : RANGE.exec(request.range)) ?? [];
  if (range === void 0) return null;
  if (request.ifRange !== null && !isSame(request.ifRange, etag, modifiedAt)) return null;
  if (suffix !== void 0) {
    const length = Math.min(Number(suffix), size);
    return length === 0 ? "unsatisfiable" : { start: size - length, end: size };
  }
  const start = Number(first);
  if (last !== "" && Number(last) < start) return null;
  if (start >= size) return "unsatisfiable";
  return { start, end: last === "" ? size : Math.min(Number(last) + 1, size) };
}
function isSame(validator, etag, modifiedAt) {
  return validator === etag || dateOf(validator) === seconds(modifiedAt);
}
function lists(tags, etag, weakly) {
  if (tags === "*") return true;
  const own = weakly && etag.startsWith("W/") ? etag.slice("W/".length) : etag;
  for (const [, weak, opaque] of tags.matchAll(/(W\/)?("[\x21\x23-\x7e\x80-\xff]*")/g)) {
    if (opaque === own && (weakly || weak === void 0)) return true;
  }
  return false;
}
function dateOf(text) {
  if (!/^(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)/.test(text)) return null;
  const moment = Date.parse(text.endsWith("GMT") ? text : `${text} GMT`);
  return Number.isNaN(moment) ? null : seconds(moment);
}
function seconds(milliseconds) {
  return Math.floor(milliseconds / 1e3);
}

function conditionsOf({ headers }) {
  return {
    ifMatch: headers["if-match"] ?? null,
    ifNoneMatch: headers["if-none-match"] ?? null,
    ifModifiedSince: headers["if-modified-since"] ?? null,
    ifUnmodifiedSince: headers["if-unmodified-since"] ?? null,
    ifRange: headers["if-range"]?.toString() ?? null,
    range: headers.range ?? null
  };
}
function isKnown(event, etag) {
  const { req, res } = event.node;
  setResponseHeaders(event, { etag, vary: "accept-encoding" });
  const undated = { ...conditionsOf(req), ifMatch: null, ifModifiedSince: null, ifUnmodifiedSince: null };
  if (precondition(undated, { etag, modifiedAt: 0 }) !== 304) return false;
  setResponseStatus(event, 304);
  res.end();
  return true;
}

export { conditionsOf as c, isKnown as i, precondition as p, rangeOf as r };
