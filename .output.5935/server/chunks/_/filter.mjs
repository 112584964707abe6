import { readdirSync, createReadStream, createWriteStream } from 'node:fs';
import { readFile, open, rm, rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { gunzip, createGunzip, createGzip } from 'node:zlib';
import { j as makePrivateDirectory, n as PRIVATE_FILE_MODE, m as messageOf, l as logger, I as timestamp, J as useContext, Y as ID_PATTERN } from '../nitro/nitro.mjs';
import { promisify } from 'node:util';
import { d as openWhole, B as Bell } from './log-files.mjs';
import { setImmediate } from 'node:timers/promises';
import { RE2JS } from 're2js';

const NUMBER_DIGITS = 15;
const NAME = /^(\d{15})\.(\d{4}-\d{2}-\d{2})\.ndjson(\.gz)?$/;
const MAX_PART_BYTES$1 = 64 * 1024 * 1024;
const unpack = promisify(gunzip);
function partPath(directory, first, day) {
  return join(directory, `${String(first).padStart(NUMBER_DIGITS, "0")}.${day}.ndjson`);
}
function listParts(directory) {
  const parts = /* @__PURE__ */ new Map();
  for (const name of namesIn$1(directory).sort()) {
    const [, first, day, packed] = NAME.exec(name) ?? [];
    if (first === void 0 || day === void 0) continue;
    const part = { first: Number(first), day, isPacked: packed !== void 0, path: join(directory, name) };
    parts.set(part.first, part);
  }
  return [...parts.values()];
}
async function readPart({ path, isPacked, bytes }) {
  try {
    if (isPacked) return await unpack(await readFile(path), { maxOutputLength: MAX_PART_BYTES$1 });
    const content = await readFile(path);
    return bytes === null ? content : content.subarray(0, bytes);
  } catch (error) {
    if (error.code !== "ENOENT") throw error;
    return isPacked ? null : readPart({ path: `${path}.gz`, isPacked: true, bytes });
  }
}
function isBroken(error) {
  const { code = "" } = error;
  return code.startsWith("Z_") || code === "ERR_BUFFER_TOO_LARGE";
}
function dayOf(moment) {
  return new Date(moment).toISOString().slice(0, "yyyy-mm-dd".length);
}
function namesIn$1(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}

const log$2 = logger("logs");
const NEWLINE$2 = 10;
class LogEnd {
  #directory;
  #maxPartBytes;
  #partClosed;
  #file = null;
  /** Null until the parts were looked at. */
  #next = null;
  #opening = null;
  /** Of the part that is written, also while it is being opened: nobody else may take it for a closed one. */
  #path = null;
  constructor(directory, maxPartBytes, partClosed) {
    this.#directory = directory;
    this.#maxPartBytes = maxPartBytes;
    this.#partClosed = partClosed;
  }
  /** The part that is written now; null when none is. */
  get path() {
    return this.#path;
  }
  /** The day on which that part was begun. */
  get day() {
    return this.#file?.day ?? null;
  }
  /** The number of the next line, once it was found. */
  get next() {
    return this.#next;
  }
  /** What is stored now. */
  slices() {
    return listParts(this.#directory).map((part) => ({
      ...part,
      bytes: part.path === this.#file?.path ? this.#file.bytes : null
    }));
  }
  /** Finds the end of what an earlier run has stored: once, as a torn end is cut off then, and a later one may be growing. */
  opened() {
    this.#opening ??= this.#open().catch((error) => {
      this.#opening = null;
      throw error;
    });
    return this.#opening;
  }
  /**
   * Appends as many of the lines as the part has room for, one at least, and calls `kept` with their number in the turn in
   * which they belong to the log. Throws when the disk does not take them; then it has none of them.
   */
  async append(lines, kept) {
    const file = await this.#current();
    const count = countWithin(lines, this.#maxPartBytes - file.bytes);
    const text = Buffer.from(lines.slice(0, count).join(""));
    await appendWhole(file, text);
    file.bytes += text.length;
    this.#next += count;
    kept(count);
    if (file.bytes >= this.#maxPartBytes) await this.close();
  }
  /** Closes the part that is written, so that it can be packed. */
  async close() {
    const file = this.#file;
    this.#file = null;
    this.#path = null;
    await file?.handle.close().catch(() => {
    });
    if (file) this.#partClosed();
  }
  /** The part to write to: the last one when it is of today and not full, else a new one. */
  async #current() {
    await this.opened();
    const day = dayOf(Date.now());
    if (this.#file && this.#file.day !== day) await this.close();
    if (!this.#file) {
      makePrivateDirectory(this.#directory);
      const path = partPath(this.#directory, this.#next, day);
      this.#path = path;
      this.#file = { handle: await open(path, "a", PRIVATE_FILE_MODE), path, day, bytes: 0 };
    }
    return this.#file;
  }
  async #open() {
    const last = listParts(this.#directory).at(-1);
    if (!last) {
      this.#next = 0;
      return;
    }
    const isGrowing = !last.isPacked && last.day === dayOf(Date.now());
    const handle = last.isPacked ? null : await openWhole(last.path);
    const content = last.isPacked ? null : await readPart({ ...last, bytes: null });
    const lines = last.isPacked ? await countPacked(last.path) : content ? countLines(content) : 0;
    if (!handle || !isGrowing || !content || content.length >= this.#maxPartBytes) await handle?.close();
    else {
      this.#path = last.path;
      this.#file = { handle, path: last.path, day: last.day, bytes: content.length };
    }
    this.#next = last.first + lines;
  }
}
function countWithin(lines, bytes) {
  let length = 0;
  const end = lines.findIndex((line) => (length += Buffer.byteLength(line)) > bytes);
  return end === -1 ? lines.length : end + 1;
}
async function appendWhole({ handle, bytes }, text) {
  try {
    await handle.appendFile(text);
  } catch (error) {
    await handle.truncate(bytes).catch(() => {
    });
    throw error;
  }
}
async function countPacked(path) {
  let count = 0;
  await pipeline(createReadStream(path), createGunzip(), async (pieces) => {
    for await (const piece of pieces) count += countLines(piece);
  }).catch(
    (error) => log$2.warn("a part of a service log cannot be read", { path, error: messageOf(error) })
  );
  return Math.max(1, count);
}
function countLines(content) {
  let count = 0;
  for (let at = content.indexOf(NEWLINE$2); at !== -1; at = content.indexOf(NEWLINE$2, at + 1)) count++;
  return count;
}

const MAX_BYTES = 16 * 1024 * 1024;
const BLOCK_BYTES$1 = 64 * 1024;
const NEWLINE$1 = 10;
class LineRing {
  grown = new Bell();
  #blocks = [];
  #bytes = 0;
  #isWhole = false;
  #end;
  /** An empty ring, whose first line will have this position. */
  constructor(end = 0) {
    this.#end = end;
  }
  /** The position after the newest line. */
  get end() {
    return this.#end;
  }
  /** Adds lines, each with its newline. */
  push(lines) {
    let rest = lines.map((line) => Buffer.from(line));
    while (rest.length > 0) rest = this.#fill(rest);
    while (this.#bytes > MAX_BYTES) {
      this.#bytes -= this.#blocks.shift().text.length;
      this.#isWhole = false;
    }
    this.grown.ring();
  }
  /** Puts stored lines before the first one; `isAll` when no older ones are stored. Only into a ring that has lost none. */
  prepend(blocks, isAll) {
    this.#isWhole = isAll;
    const lines = blocks.map((text) => ({ text, ends: endsOf(text) }));
    let first = this.#start - lines.reduce((sum, { ends }) => sum + ends.length, 0);
    const before = lines.map(({ text, ends }) => {
      const block = { first, text, ends, rests: /* @__PURE__ */ new Map() };
      first += ends.length;
      this.#bytes += text.length;
      return block;
    });
    this.#blocks.unshift(...before);
  }
  /** Whether it holds the last so many lines of the log, or all there are. */
  reaches(count) {
    return this.#isWhole || this.#end - this.#start >= count;
  }
  /** The lines at a position and after it, as many as go at once; null when there are none yet. */
  take(position) {
    if (position >= this.#end) return null;
    const start = Math.max(position, this.#start);
    const block = this.#blocks[this.#indexOf(start)];
    return {
      lost: start - position,
      text: restOf(block, start - block.first),
      next: block.first + block.ends.length
    };
  }
  /** The position of the last so many lines that are still there. */
  tail(count) {
    return Math.max(this.#start, this.#end - count);
  }
  get #start() {
    return this.#blocks[0]?.first ?? this.#end;
  }
  /** Adds lines to the last block, or to a new one, until it is full; answers those that are left. */
  #fill(lines) {
    let block = this.#blocks.at(-1);
    if (!block || block.text.length >= BLOCK_BYTES$1) {
      block = newBlock(this.#end);
      this.#blocks.push(block);
    }
    let length = block.text.length;
    let count = 0;
    while (count < lines.length && length < BLOCK_BYTES$1) block.ends.push(length += lines[count++].length);
    this.#bytes += length - block.text.length;
    block.text = Buffer.concat([block.text, ...lines.slice(0, count)], length);
    block.rests.clear();
    this.#end += count;
    return lines.slice(count);
  }
  /** The block that holds a position, found by halving. */
  #indexOf(position) {
    let low = 0;
    let high = this.#blocks.length - 1;
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if (this.#blocks[middle].first <= position) low = middle;
      else high = middle - 1;
    }
    return low;
  }
}
function newBlock(first) {
  return { first, text: Buffer.alloc(0), ends: [], rests: /* @__PURE__ */ new Map() };
}
function endsOf(text) {
  const ends = [];
  for (let at = text.indexOf(NEWLINE$1); at !== -1; at = text.indexOf(NEWLINE$1, at + 1)) ends.push(at + 1);
  return ends;
}
function restOf(block, skipped) {
  if (skipped === 0) return block.text;
  const known = block.rests.get(skipped);
  if (known) return known;
  const rest = block.text.subarray(block.ends[skipped - 1]);
  block.rests.set(skipped, rest);
  return rest;
}

function systemLine(line) {
  return { ts: timestamp(Date.now()), stream: "system", line };
}
function lostLine(count, why) {
  return systemLine(`${count === 1 ? "1 line was" : `${count} lines were`} lost here: ${why}`);
}

const BLOCK_BYTES = 128 * 1024;
const NEWLINE = 10;
class Allowance {
  #left;
  constructor(bytes) {
    this.#left = bytes;
  }
  take(bytes) {
    if (bytes > this.#left) return false;
    this.#left -= bytes;
    return true;
  }
}
async function readTail(slices, matcher, tail, room, signal) {
  const found = { blocks: [], count: 0, isCut: false };
  if (tail === 0) return found;
  const newestFirst = slices.toReversed();
  let content = unpacked(newestFirst[0]);
  for (const [index, slice] of newestFirst.entries()) {
    const blocks = readableBlocks(slice, content);
    content = matcher ? unpacked(newestFirst[index + 1]) : null;
    for await (const block of blocks) {
      signal?.throwIfAborted();
      const taken = matcher ? newestMatches(matcher, block, tail - found.count) : newest(block, tail - found.count);
      if (taken.count > 0 && !room.take(taken.text.length)) return { ...found, isCut: true };
      if (taken.count > 0) found.blocks.unshift(taken.text);
      found.count += taken.count;
      if (found.count >= tail) return found;
      await setImmediate();
    }
  }
  return found;
}
function newestMatches(matcher, block, wanted) {
  const lines = matcher(block.toString("utf8")).slice(-wanted);
  return { text: Buffer.from(lines.map((line) => `${line}
`).join("")), count: lines.length };
}
function newest(block, wanted) {
  let start = block.length;
  let count = 0;
  while (start > 0 && count < wanted) {
    start = start === 1 ? 0 : block.lastIndexOf(NEWLINE, start - 2) + 1;
    count++;
  }
  return { text: Buffer.from(block.subarray(start)), count };
}
function unpacked(slice) {
  if (!slice?.isPacked) return null;
  const content = readPart(slice);
  content.catch(() => {
  });
  return content;
}
async function* readableBlocks(slice, begun) {
  try {
    yield* blocksBackwards(slice, begun);
  } catch (error) {
    const text = `a part of the log cannot be read and is left out here: ${messageOf(error)}`;
    const line = { ts: `${slice.day}T00:00:00.000Z`, stream: "system", line: text };
    yield Buffer.from(`${JSON.stringify(line)}
`);
  }
}
async function* blocksBackwards(slice, begun = null) {
  if (slice.isPacked || slice.bytes === null) {
    const content = await (begun ?? readPart(slice));
    if (content) yield* piecesBackwards(content.subarray(0, content.lastIndexOf(NEWLINE) + 1));
    return;
  }
  const file = await open(slice.path, "r").catch(() => null);
  if (!file) return yield* blocksBackwards({ ...slice, bytes: null });
  try {
    let rest = Buffer.alloc(0);
    for (let end = slice.bytes; end > 0; ) {
      const start = Math.max(0, end - BLOCK_BYTES);
      const piece = Buffer.allocUnsafe(end - start);
      const { bytesRead } = await file.read(piece, 0, piece.length, start);
      const text = Buffer.concat([piece.subarray(0, bytesRead), rest]);
      const head = start === 0 ? 0 : text.indexOf(NEWLINE) + 1;
      rest = text.subarray(0, head);
      if (head < text.length) yield text.subarray(head);
      end = start;
    }
  } finally {
    await file.close();
  }
}
function* piecesBackwards(content) {
  for (let end = content.length; end > 0; ) {
    const start = end <= BLOCK_BYTES ? 0 : content.lastIndexOf(NEWLINE, end - BLOCK_BYTES) + 1;
    yield content.subarray(start, end);
    end = start;
  }
}

const log$1 = logger("logs");
const FLUSH_DELAY_MS = 20;
const MAX_PENDING_BYTES = 16 * 1024 * 1024;
const RETRY_MS = 1e3;
const RECENT_LINES = 1e4;
const RECENT_BYTES = 4 * 1024 * 1024;
class ServiceLog {
  /** Rung when more is stored. */
  grown = new Bell();
  /** Aborts when the service is no more. */
  removed;
  #removal = new AbortController();
  #directory;
  #end;
  #ring = null;
  #followers = 0;
  /** Lines that are not settled yet. */
  #waiting = [];
  #waitingBytes = 0;
  /** Lines that are on the disk, or could not be put there, counted from the start of the server. */
  #settled = 0;
  #lost = 0;
  #unkept = 0;
  #fullSince = null;
  #timer;
  #work = Promise.resolve();
  constructor(directory, maxPartBytes, partClosed) {
    this.#directory = directory;
    this.#end = new LogEnd(directory, maxPartBytes, partClosed);
    this.removed = this.#removal.signal;
  }
  /** Adds lines. Those that come faster than the disk takes them are left out, and counted in a line of their own. */
  append(lines) {
    if (this.removed.aborted || lines.length === 0) return;
    if (this.#waitingBytes > MAX_PENDING_BYTES) return this.lose(lines.length);
    this.#tellLost();
    this.#add(lines.map(textOf));
  }
  /** Resolves when so little waits for the disk that what is added next is not left out. */
  async room() {
    while (this.#waitingBytes > MAX_PENDING_BYTES / 2) await this.flushed();
  }
  /** Counts lines that are left out here; the log says how many as soon as it can. */
  lose(count) {
    this.#lost += count;
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS);
  }
  /** Resolves when what was added before is on the disk, or could not be put there. */
  async flushed() {
    this.#flush();
    await this.#work;
  }
  /** What is stored now, and from where on the ring goes on. Until `leave` is called the ring is kept. */
  async join() {
    this.#followers++;
    await this.#end.opened();
    this.#ring ??= this.#openRing();
    await this.#ring.loaded;
    return { slices: this.#end.slices(), ring: this.#ring.lines, position: this.#settled };
  }
  /** To be called once for each `join`. */
  leave() {
    this.#followers--;
    if (this.#followers === 0) this.#ring = null;
  }
  /** What is stored, with all that was added before. */
  async stored() {
    await this.flushed();
    await this.#end.opened();
    return this.#end.slices();
  }
  /** The number of the line that will be stored next. */
  async end() {
    await this.#end.opened();
    return this.#end.next;
  }
  /** Closes the part that is written, so that it can be packed. */
  async closePart() {
    this.#work = this.#work.then(() => this.#end.close());
    await this.#work;
  }
  /** The part that is written now; null when none is. */
  get openPart() {
    return this.#end.path;
  }
  /** The day on which that part was begun. */
  get openDay() {
    return this.#end.day;
  }
  /** Writes what waits and closes the file. */
  async close() {
    await this.flushed();
    await this.closePart();
  }
  /** Removes the log and ends who reads it. */
  async remove() {
    this.#removal.abort();
    clearTimeout(this.#timer);
    this.#lost = 0;
    this.#waiting = [];
    this.#waitingBytes = 0;
    await this.closePart();
    await rm(this.#directory, { recursive: true, force: true });
  }
  #tellLost() {
    if (this.#lost === 0) return;
    const line = lostLine(this.#lost, "the output came faster than it can be kept");
    this.#lost = 0;
    this.#add([textOf(line)]);
  }
  #add(texts) {
    for (const text of texts) {
      this.#waiting.push(text);
      this.#waitingBytes += text.length;
    }
    this.#ring?.lines.push(texts);
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS);
  }
  /** A ring of what is not settled, before which the recent stored lines are put. */
  #openRing() {
    const lines = new LineRing(this.#settled);
    lines.push(this.#waiting);
    const loaded = readTail(this.#end.slices(), null, RECENT_LINES, new Allowance(RECENT_BYTES)).then(
      ({ blocks, count, isCut }) => lines.prepend(blocks, !isCut && count < RECENT_LINES),
      (error) => log$1.warn("a service log cannot be read", { error: messageOf(error) })
    );
    return { lines, loaded };
  }
  #flush() {
    this.#tellLost();
    clearTimeout(this.#timer);
    this.#timer = void 0;
    this.#work = this.#work.then(() => this.#write());
  }
  /** Writes what waits; what comes meanwhile is for the next. */
  async #write() {
    let left = this.#waiting.length;
    while (left > 0 && this.#waiting.length > 0) left -= await this.#writePiece(left);
  }
  /**
   * Writes what there is room for, of so many lines; answers how many are settled. A disk that takes nothing loses all of
   * them, is told of once, and tried again later.
   */
  async #writePiece(most) {
    let count = most;
    try {
      if (this.#fullSince !== null && performance.now() - this.#fullSince < RETRY_MS) this.#giveUp(most);
      else {
        const lost = this.#unkept === 0 ? [] : [textOf(lostLine(this.#unkept, "the disk did not take it"))];
        await this.#end.append([...lost, ...this.#waiting.slice(0, most)], (kept) => {
          this.#unkept = 0;
          this.#settle(count = kept - lost.length);
        });
        this.grown.ring();
        if (this.#fullSince !== null) this.#noteRoom();
      }
    } catch (error) {
      this.#giveUp(most);
      if (this.#fullSince === null) this.#sayFull(messageOf(error));
      this.#fullSince = performance.now();
    }
    return count;
  }
  /** Lets go of the oldest lines that wait. In one turn: what is stored and where the ring goes on belong together. */
  #settle(count) {
    this.#settled += count;
    for (const text of this.#waiting.splice(0, count)) this.#waitingBytes -= text.length;
  }
  #giveUp(count) {
    this.#unkept += this.#waiting.slice(0, count).filter((text) => !text.includes('"stream":"system"')).length;
    this.#settle(count);
  }
  #sayFull(error) {
    log$1.error("a service log cannot be kept; following it goes on", { directory: this.#directory, error });
    this.#add([textOf(systemLine(`from here on lines are shown but not kept: ${error}`))]);
  }
  #noteRoom() {
    log$1.info("the disk takes a service log again", { directory: this.#directory });
    this.#fullSince = null;
  }
}
function textOf(line) {
  return `${JSON.stringify(line)}
`;
}

const log = logger("logs");
const MAX_PART_BYTES = 16 * 1024 * 1024;
const LEAST_PARTS = 4;
const MEBIBYTE = 1024 * 1024;
const DAY_MS = 864e5;
const UNFINISHED = ".new";
const logs = /* @__PURE__ */ new Map();
let tidying = Promise.resolve();
function serviceLog(id) {
  const known = logs.get(id);
  if (known) return known;
  const maxPartBytes = Math.min(MAX_PART_BYTES, useContext().options.logSizeMb * MEBIBYTE / LEAST_PARTS);
  const made = new ServiceLog(directoryOf(id), maxPartBytes, () => void tidyServiceLog(id));
  logs.set(id, made);
  return made;
}
async function removeServiceLog(id) {
  const known = serviceLog(id);
  logs.delete(id);
  await tidying;
  await known.remove();
}
async function closeServiceLogs() {
  await Promise.all([...logs.values()].map((each) => each.close()));
}
async function tidyServiceLogs(isService) {
  for (const id of idsWithLogs()) {
    if (isService(id)) await tidyServiceLog(id);
    else await removeServiceLog(id);
  }
}
function tidyServiceLog(id) {
  tidying = tidying.then(() => tidy(id)).catch(
    (error) => log.warn("a service log cannot be tidied", { service: id, error: messageOf(error) })
  );
  return tidying;
}
async function tidy(id) {
  const own = serviceLog(id);
  if (own.openDay !== null && own.openDay !== dayOf(Date.now())) await own.closePart();
  await own.stored();
  await removeUnfinished(directoryOf(id));
  const closed = () => listParts(directoryOf(id)).filter(({ path }) => path !== own.openPart);
  for (const part of closed()) if (!part.isPacked) await pack(part);
  for (const { path, isPacked } of closed())
    if (isPacked) await rm(path.replace(/\.gz$/, ""), { force: true });
  await removeOld(id, closed());
}
async function pack({ path }) {
  const unfinished = `${path}.gz${UNFINISHED}`;
  await pipeline(
    createReadStream(path),
    createGzip(),
    createWriteStream(unfinished, { mode: PRIVATE_FILE_MODE, flush: true })
  );
  await rename(unfinished, `${path}.gz`);
  await rm(path, { force: true });
}
async function removeOld(id, closed) {
  const { logRetentionMs, logSizeMb } = useContext().options;
  const sizes = await Promise.all(listParts(directoryOf(id)).map(({ path }) => sizeOf(path)));
  let bytes = sizes.reduce((sum, size) => sum + size, 0);
  for (const part of closed) {
    const isOld = Date.parse(part.day) + DAY_MS < Date.now() - logRetentionMs;
    if (!isOld && bytes <= logSizeMb * MEBIBYTE) continue;
    bytes -= await sizeOf(part.path);
    await rm(part.path, { force: true });
  }
}
async function sizeOf(path) {
  return (await stat(path).catch(() => null))?.size ?? 0;
}
async function removeUnfinished(directory) {
  const names = namesIn(directory).filter((name) => name.endsWith(UNFINISHED));
  for (const name of names) await rm(join(directory, name), { force: true });
}
function idsWithLogs() {
  return namesIn(rootDirectory()).filter((name) => ID_PATTERN.test(name));
}
function namesIn(directory) {
  try {
    return readdirSync(directory);
  } catch {
    return [];
  }
}
function directoryOf(id) {
  return join(rootDirectory(), id);
}
function rootDirectory() {
  return join(useContext().options.dataDirectory, "logs", "services");
}

const MAX_PROGRAM = 2500;
const MAX_WRITTEN_OUT = 4 * MAX_PROGRAM;
const TOKENS = /\\Q.*?(?:\\E|$)|\\.|\[\^?\]?(?:\\.|\[:\^?[a-z]+:\]|[^\]\\])*\]?|\{(?<least>\d+)(?:,(?<most>\d*))?\}|./gsu;
const SIMPLE_ESCAPE = /^\\[dDsSwWbBAztnrfvaC]$/;
const REPETITION = /^(?:[*?]|\{\d+(?:,\d*)?\})$/;
const PLAIN = /^[ -~]$/;
const PLAIN_IN_ANY_CASE = /^[ -RT-rt-~]$/;
function compileExpression({ expression, ignoreCase }) {
  try {
    if (writtenOut(expression) > MAX_WRITTEN_OUT) throw new Error("it is too large: repeat less in it");
    const compiled = RE2JS.compile(expression, ignoreCase ? RE2JS.CASE_INSENSITIVE : 0);
    if (compiled.programSize() > MAX_PROGRAM) throw new Error("it is too large: repeat less in it");
    return (text) => compiled.test(text);
  } catch (cause) {
    throw new Error(
      `the expression cannot be used (RE2 syntax, without look-around and backreferences): ${messageOf(cause)}`,
      { cause }
    );
  }
}
function writtenOut(expression) {
  const outer = [];
  let length = 0;
  let last = 0;
  for (const { 0: token, groups } of expression.matchAll(TOKENS)) {
    const times = groups?.least === void 0 ? null : Math.max(Number(groups.least), Number(groups.most ?? 0));
    if (token === "(") {
      outer.push(length);
      length = last = 0;
    } else if (token === ")" && outer.length > 0) {
      last = length + 1;
      length = outer.pop() + last;
    } else {
      const added = times === null ? token.startsWith("\\Q") ? token.length : 1 : last * times - last;
      length += Math.max(0, added);
      last = times === null ? added : last * times;
    }
  }
  return outer.reduce((sum, each) => sum + each, length);
}
function requiredText({ expression, ignoreCase }) {
  const plain = ignoreCase || expression.includes("(?") ? PLAIN_IN_ANY_CASE : PLAIN;
  let longest = "";
  let run = [];
  let depth = 0;
  const end = () => {
    if (run.length > longest.length) longest = run.join("");
    run = [];
  };
  for (const [token] of expression.matchAll(TOKENS)) {
    if (token === "|" && depth === 0) return "";
    if (token === ")") depth--;
    const literal = literalOf(token);
    if (literal === null) return "";
    if (REPETITION.test(token)) run.pop();
    const isPart = depth === 0 && literal !== "" && [...literal].every((character) => plain.test(character));
    if (isPart) run.push(...literal);
    else end();
    if (token === "(") depth++;
  }
  end();
  return longest;
}
function literalOf(token) {
  if (token.startsWith("\\Q")) return token.slice(2).replace(/\\E$/, "");
  if (/^\\[^A-Za-z0-9]$/.test(token)) return token.slice(1);
  if (token.startsWith("\\")) return SIMPLE_ESCAPE.test(token) ? "" : null;
  return token.length > 1 || /^[.^$*+?|()[]$/.test(token) ? "" : token;
}

const TS_START = '{"ts":"'.length;
const TS_END = TS_START + "2000-01-01T00:00:00.000Z".length;
const STREAM_START = TS_END + '","stream":"'.length;
const STREAM_END = STREAM_START + "stdout".length;
const TEXT_START = STREAM_END + '","line":"'.length;
const COLOUR = /\\u001b\[[\d;:]*m/g;
const COLOUR_START = "\\u001b[";
const SHOWN_COLOUR = /\u001b\[[\d;:]*m/g;
function takesAll(filter) {
  return Object.values(filter).every((value) => value === null);
}
function parseSearch(given) {
  const [, expression, flag] = /^\/(.+)\/(i?)$/s.exec(given) ?? [];
  if (expression === void 0) return { text: given };
  const search = { expression, ignoreCase: flag === "i" };
  compileExpression(search);
  return search;
}
function lineMatcher(filter) {
  const tests = [...headTests(filter)];
  const isWanted = (line) => tests.every((test) => test(line));
  const { search } = filter;
  if (search === null) return (block) => linesIn(block).filter(isWanted);
  const shows = textTest(search);
  const candidates = candidateFinder("text" in search ? search.text : requiredText(search));
  return (block) => candidates(block).filter((line) => isWanted(line) && shows(shownText(line)));
}
function textTest(search) {
  if ("expression" in search) return compileExpression(search);
  const needle = search.text.toLowerCase();
  return (text) => text.toLowerCase().includes(needle);
}
function* headTests({ since, until, stream, instances }) {
  if (since !== null) yield (line) => line.slice(TS_START, TS_END) >= since;
  if (until !== null) yield (line) => line.slice(TS_START, TS_END) < until;
  if (stream !== null) yield (line) => line.slice(STREAM_START, STREAM_END) === stream;
  if (instances !== null) {
    const ends = instances.map((instance) => `,"instance":${JSON.stringify(instance)}}`);
    yield (line) => ends.some((end) => line.endsWith(end));
  }
}
function linesIn(block) {
  return block.split("\n").filter((line) => line.endsWith('"}'));
}
function shownText(line) {
  const end = line.indexOf('"', TEXT_START);
  const escape = line.indexOf("\\", TEXT_START);
  if (escape === -1 || escape > end) return line.slice(TEXT_START, end);
  const { line: text } = JSON.parse(line);
  return text.includes("\x1B") ? text.replaceAll(SHOWN_COLOUR, "") : text;
}
function candidateFinder(text) {
  if (text === "") return linesIn;
  const stored = JSON.stringify(text.toLowerCase()).slice(1, -1);
  return (block) => {
    const lower = block.toLowerCase();
    if (lower.includes(COLOUR_START) || lower.length !== block.length) return linesWith(block, stored);
    const found = [];
    for (let at = lower.indexOf(stored); at !== -1; ) {
      const start = lower.lastIndexOf("\n", at) + 1;
      const newline = lower.indexOf("\n", at);
      const end = newline === -1 ? block.length : newline;
      const line = block.slice(start, end);
      if (line.endsWith('"}')) found.push(line);
      at = lower.indexOf(stored, end);
    }
    return found;
  };
}
function linesWith(block, stored) {
  return linesIn(block).filter((line) => line.replaceAll(COLOUR, "").toLowerCase().includes(stored));
}

export { Allowance as A, readTail as a, linesIn as b, closeServiceLogs as c, readPart as d, takesAll as e, systemLine as f, lostLine as g, isBroken as i, lineMatcher as l, parseSearch as p, removeServiceLog as r, serviceLog as s, tidyServiceLogs as t };
