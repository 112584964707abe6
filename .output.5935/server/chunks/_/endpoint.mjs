import { A as AppError, E as useDatabase, B as defineEventHandler, a0 as getRouterParams, a1 as createError, $ as setResponseHeader, a2 as authenticate, a3 as ERRORS, a4 as getQuery } from '../nitro/nitro.mjs';
import { z } from 'zod';
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { setImmediate } from 'node:timers/promises';
import { G as Gathered, C as ConstantText, j as jsonBytes, s as sendJson } from './send.mjs';
import { v as validate } from './validate.mjs';

const BUDGET_BYTES = 32 * 1024 * 1024;
const WAIT_MS = 1e4;
const MAX_WAITING = 256;
class ByteBudget {
  #waitMs;
  #free;
  #waiting = /* @__PURE__ */ new Set();
  constructor(bytes = BUDGET_BYTES, waitMs = WAIT_MS) {
    this.#free = bytes;
    this.#waitMs = waitMs;
  }
  /** Opens a share, which must be released. */
  open() {
    return new ByteShare(this);
  }
  /** Whether so many bytes are left; they are taken then. */
  tryTake(bytes) {
    if (this.#free < bytes) return false;
    this.#free -= bytes;
    return true;
  }
  /** Waits for bytes. Throws `service_unavailable` when none become free in time. */
  async wait(bytes, held) {
    if (this.#waiting.size >= MAX_WAITING) throw this.#exhausted();
    const { promise, resolve, reject } = Promise.withResolvers();
    const waiter = { bytes, total: held + bytes, admit: resolve };
    const timer = setTimeout(() => {
      this.#waiting.delete(waiter);
      reject(this.#exhausted());
    }, this.#waitMs);
    this.#waiting.add(waiter);
    await promise.finally(() => clearTimeout(timer));
  }
  /** Gives bytes back. */
  free(bytes) {
    this.#free += bytes;
    for (const waiter of [...this.#waiting].toSorted((a, b) => a.total - b.total)) {
      if (!this.tryTake(waiter.bytes)) return;
      this.#waiting.delete(waiter);
      waiter.admit();
    }
  }
  #exhausted() {
    const seconds = Math.ceil(this.#waitMs / 1e3);
    return new AppError(
      "service_unavailable",
      `the server takes no more bodies without credentials at this moment: try again in ${seconds} seconds`,
      { retryAfterSeconds: seconds }
    );
  }
}
class ByteShare {
  #budget;
  #held = 0;
  constructor(budget) {
    this.#budget = budget;
  }
  /** Takes bytes when they are left; answers whether they were. */
  tryTake(bytes) {
    const taken = this.#budget.tryTake(bytes);
    if (taken) this.#held += bytes;
    return taken;
  }
  /** Waits for bytes. Throws `service_unavailable`. */
  async wait(bytes) {
    await this.#budget.wait(bytes, this.#held);
    this.#held += bytes;
  }
  /** Gives everything back; safe to call twice. */
  release() {
    this.#budget.free(this.#held);
    this.#held = 0;
  }
}

function findKeyFault(text) {
  const objects = [];
  for (let at = 0; at < text.length; at++) {
    const character = text[at];
    if (character === "{") objects.push(/* @__PURE__ */ new Set());
    else if (character === "[") objects.push(null);
    else if (character === "}" || character === "]") objects.pop();
    else if (character === '"') {
      const end = endOfString(text, at);
      const keys = objects.at(-1);
      if (keys && isKey(text, end)) {
        const key = readKey(text.slice(at, end));
        if (key === "__proto__") return "__proto__: unknown field";
        if (keys.has(key)) return `${key}: stands twice in one object`;
        keys.add(key);
      }
      at = end - 1;
    }
  }
  return null;
}
function readKey(literal) {
  return literal.includes("\\") ? JSON.parse(literal) : literal.slice(1, -1);
}
function endOfString(text, start) {
  let at = start + 1;
  while (text[at] !== '"') at += text[at] === "\\" ? 2 : 1;
  return at + 1;
}
function isKey(text, end) {
  let at = end;
  while (text[at] === " " || text[at] === "	" || text[at] === "\n" || text[at] === "\r") at++;
  return text[at] === ":";
}

const MAX_KEYS_TOLD = 8;
const HALF = /\\u[dD][89a-fA-F]/;
function parseJson(bytes) {
  if (bytes.length === 0) return {};
  const text = decodeUtf8(bytes);
  let value;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw new AppError("invalid_request", `the body is not valid JSON: ${cause.message}`, {
      cause
    });
  }
  const fault = findKeyFault(text) ?? (HALF.test(text) ? findHalf(value) : null);
  if (fault) throw new AppError("invalid_request", fault);
  return value;
}
function decodeUtf8(bytes) {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("invalid_request", "the body is not valid UTF-8", { cause });
  }
}
function findHalf(value) {
  const places = [{ value, key: "", within: null }];
  for (let place = places.pop(); place; place = places.pop()) {
    const { value: value2 } = place;
    if (typeof value2 === "string" && !value2.isWellFormed())
      return `${pathOf(place)}: must not contain half of a surrogate pair`;
    if (typeof value2 !== "object" || value2 === null) continue;
    const keys = Array.isArray(value2) ? null : Object.keys(value2);
    const items = keys ? Object.values(value2) : value2;
    for (let index = 0; index < items.length; index++) {
      const item = items[index];
      if (typeof item === "string" || typeof item === "object")
        places.push({ value: item, key: keys?.[index] ?? String(index), within: place });
    }
  }
  return null;
}
function pathOf(place) {
  const keys = [];
  for (let at = place; at.within; at = at.within) keys.push(at.key);
  return keys.toReversed().slice(0, MAX_KEYS_TOLD).join(".") || "body";
}

class Pace {
  silenceMs;
  leastBytesPerSecond;
  graceMs;
  totalMs;
  constructor(silenceMs, leastBytesPerSecond = 0, graceMs = 0, totalMs = Infinity) {
    this.silenceMs = silenceMs;
    this.leastBytesPerSecond = leastBytesPerSecond;
    this.graceMs = graceMs;
    this.totalMs = totalMs;
  }
  /** Starts the clock of one body. */
  start() {
    return new BodyClock(this);
  }
}
const WITH_CREDENTIALS = new Pace(3e4);
const WITHOUT_CREDENTIALS = new Pace(1e4, 16 * 1024, 1e4, 1e5);
class BodyClock {
  #pace;
  #began = performance.now();
  #forgivenMs = 0;
  constructor(pace) {
    this.#pace = pace;
  }
  /** Leaves out a time in which it was the server that waited. */
  forgive(ms) {
    this.#forgivenMs += ms;
  }
  /** How long to wait for more when `size` bytes have come. */
  patienceMs(size) {
    const { silenceMs, leastBytesPerSecond, graceMs, totalMs } = this.#pace;
    const passedMs = performance.now() - this.#began;
    const enoughForMs = leastBytesPerSecond === 0 ? Infinity : size / leastBytesPerSecond * 1e3;
    return Math.min(
      silenceMs,
      totalMs - passedMs,
      Math.max(graceMs, enoughForMs) - (passedMs - this.#forgivenMs)
    );
  }
}
async function within(piece, patienceMs) {
  const { promise: late, reject } = Promise.withResolvers();
  const timer = setTimeout(
    () => reject(new AppError("invalid_request", "the body came too slowly, or stopped: send it again")),
    Math.max(0, patienceMs)
  );
  try {
    return await Promise.race([piece, late]);
  } finally {
    clearTimeout(timer);
  }
}

const BODY_LIMIT_BYTES = 2 * 1024 * 1024;
const MEANT_BYTES = 16 * 1024;
const budget = new ByteBudget();
function receive(event, limitBytes) {
  return pieces(event, limitBytes, WITH_CREDENTIALS);
}
async function skipBody(event, limitBytes) {
  const body = receive(event, limitBytes);
  while (!(await body.next()).done) ;
}
function receiveStream(event, limitBytes) {
  const stream = Readable.from(receive(event, limitBytes), { objectMode: false });
  return stream.on("error", () => {
  });
}
async function firstByte(stream) {
  await once(stream, "readable");
  const first = stream.read(1);
  if (first === null) return null;
  stream.unshift(first);
  return first[0];
}
async function* receiveFromAnyone(event, limitBytes) {
  const share = budget.open();
  try {
    for await (const piece of pieces(event, limitBytes, WITHOUT_CREDENTIALS)) {
      await hold(event.node.req, share, piece.length);
      yield piece;
    }
  } finally {
    share.release();
  }
}
async function readJson(event) {
  assertPlain(event);
  return gatherJson(receive(event, BODY_LIMIT_BYTES));
}
async function gatherJson(body) {
  const gathered = new Gathered();
  for await (const piece of body) {
    gathered.add(piece);
    if (gathered.bytes.length > BODY_LIMIT_BYTES) throw tooLarge(BODY_LIMIT_BYTES);
  }
  return parseJson(gathered.bytes);
}
async function readText(event) {
  assertPlain(event);
  const gathered = new Gathered();
  for await (const piece of receive(event, BODY_LIMIT_BYTES)) gathered.add(piece);
  return decodeUtf8(gathered.bytes);
}
async function readJsonFromAnyone(event) {
  assertPlain(event);
  const share = budget.open();
  const gathered = new Gathered();
  let size = 0;
  try {
    for await (const piece of pieces(event, BODY_LIMIT_BYTES, WITHOUT_CREDENTIALS)) {
      size += piece.length;
      if (size > MEANT_BYTES) continue;
      await hold(event.node.req, share, piece.length);
      gathered.add(piece);
    }
    if (size > MEANT_BYTES)
      throw new AppError("invalid_request", `body: nothing that is meant here has ${size} bytes`);
    return parseJson(gathered.bytes);
  } finally {
    share.release();
  }
}
function assertLength(event, limitBytes) {
  if (Number(event.node.req.headers["content-length"] ?? 0) > limitBytes) throw tooLarge(limitBytes);
}
async function* pieces(event, limitBytes, pace) {
  const { req } = event.node;
  assertLength(event, limitBytes);
  inviteBody(event);
  const clock = pace.start();
  const incoming = req.iterator({ destroyOnReturn: false });
  let size = 0;
  try {
    for (; ; ) {
      const next = await within(incoming.next(), clock.patienceMs(size));
      if (next.done) return;
      size += next.value.length;
      if (size > limitBytes) throw tooLarge(limitBytes);
      const handed = performance.now();
      yield next.value;
      clock.forgive(performance.now() - handed);
    }
  } finally {
    void incoming.return?.();
  }
}
function inviteBody({ node: { req, res } }) {
  const asks = req.httpVersion === "1.1" && /^100-continue$/i.test(req.headers.expect ?? "");
  if (asks && !res.headersSent) res.writeContinue();
}
async function hold(request, share, bytes) {
  if (share.tryTake(bytes)) return;
  const buffered = request.read();
  if (buffered !== null) request.unshift(buffered);
  await setImmediate();
  request.socket.pause();
  try {
    await share.wait(bytes);
  } finally {
    request.socket.resume();
  }
}
function assertPlain({ node: { req } }) {
  const coding = req.headers["content-encoding"]?.trim().toLowerCase();
  if (coding && coding !== "identity")
    throw new AppError("invalid_request", `body: must be sent as it is, not in the coding ${coding}`);
}
function tooLarge(limitBytes) {
  return new AppError(
    "payload_too_large",
    `the body is larger than the ${limitBytes / 1024 / 1024} MiB allowed here`
  );
}

const MAX_KEPT = 8;
class KeptAnswers {
  #from;
  #texts = /* @__PURE__ */ new Map();
  #version = "";
  constructor(from) {
    this.#from = from;
  }
  /** The answer under this key, made when there is none that holds. */
  async get(key, make) {
    const version = this.#now();
    if (version !== this.#version || this.#texts.size === MAX_KEPT) this.#texts.clear();
    this.#version = version;
    const kept = this.#texts.get(key);
    if (kept) return kept;
    const text = new ConstantText(jsonBytes(await make()), "application/json");
    if (this.#now() === version && this.#version === version) this.#texts.set(key, text);
    return text;
  }
  #now() {
    return this.#from === "program" ? "" : useDatabase().version();
  }
}

function isSchema(part) {
  return part instanceof z.ZodType;
}
function defineEndpoint(spec) {
  const kept = spec.keptFrom && new KeptAnswers(spec.keptFrom);
  const answer = async (event) => {
    const names = spec.params && Object.values(getRouterParams(event));
    if (names?.length === 0) throw createError({ statusCode: 405 });
    if (names?.includes("")) throw createError({ statusCode: 404 });
    setResponseHeader(event, "cache-control", "no-store");
    const principal = authenticate(event, spec.auth);
    const bodySchema = spec.body ?? (takesBody(event.method) ? NoFields : void 0);
    if (isSchema(bodySchema)) assertLength(event, BODY_LIMIT_BYTES);
    const params = parse(spec.params, getRouterParams(event, { decode: true }));
    const query = parse(spec.query ?? NoFields, withoutAccessToken(event));
    const read = spec.auth === "none" ? readJsonFromAnyone : readJson;
    const body = isSchema(bodySchema) ? validate(bodySchema, await read(event)) : void 0;
    const reply = async () => spec.handler({ event, principal, params, query, body });
    if (kept) return (await kept.get(JSON.stringify([params, query]), reply)).send(event);
    const made = await reply();
    if (event.handled) return void 0;
    if (!isSchema(spec.response)) return null;
    const status = event.context.existed === true ? 200 : spec.status ?? 200;
    return sendJson(event, status, spec.response.parse(made));
  };
  return Object.assign(
    defineEventHandler((event) => answer(event).catch(rethrow)),
    { spec }
  );
}
function takesBody(method) {
  return ["POST", "PUT", "PATCH"].includes(method.toUpperCase());
}
const NoFields = z.strictObject({});
function parse(schema, input) {
  return schema ? validate(schema, input) : void 0;
}
function withoutAccessToken(event) {
  const { access_token: _, ...query } = getQuery(event);
  const names = new URLSearchParams(event.path.split("?")[1]);
  const hidden = ["__proto__", "constructor"].filter((name) => names.has(name));
  return { ...query, ...Object.fromEntries(hidden.map((name) => [name, ""])) };
}
function rethrow(error) {
  if (!(error instanceof AppError)) throw error;
  throw createError({ statusCode: ERRORS[error.code], message: error.message, cause: error });
}

export { BODY_LIMIT_BYTES as B, readJson as a, assertLength as b, receiveStream as c, defineEndpoint as d, receiveFromAnyone as e, firstByte as f, gatherJson as g, isSchema as i, readText as r, skipBody as s, takesBody as t };
