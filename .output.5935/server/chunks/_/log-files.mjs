import { open, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { j as makePrivateDirectory, n as PRIVATE_FILE_MODE, J as useContext } from '../nitro/nitro.mjs';

const PAUSE_PER_WAITER_MS = 0.1;
class Bell {
  #waiting = /* @__PURE__ */ new Set();
  #isRinging = false;
  #notBefore = 0;
  /** Resolves at the next ring, or when the signal aborts. Look at what it is about in the same turn, just before. */
  wait(signal) {
    if (signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const wake = () => {
        this.#waiting.delete(wake);
        signal.removeEventListener("abort", wake);
        resolve();
      };
      this.#waiting.add(wake);
      signal.addEventListener("abort", wake, { once: true });
    });
  }
  ring() {
    if (this.#isRinging || this.#waiting.size === 0) return;
    this.#isRinging = true;
    const pauseMs = this.#notBefore - performance.now();
    if (pauseMs > 0) setTimeout(() => this.#release(), pauseMs);
    else setImmediate(() => this.#release());
  }
  #release() {
    this.#isRinging = false;
    this.#notBefore = performance.now() + this.#waiting.size * PAUSE_PER_WAITER_MS;
    for (const wake of [...this.#waiting]) wake();
  }
}

const BLOCK_BYTES = 64 * 1024;
const LONGEST_LINE_BYTES = 512 * 1024;
const KEPT_BLOCKS = 64;
const NEWLINE$1 = 10;
class LogReader {
  grown = new Bell();
  #path;
  #file = null;
  #blocks = /* @__PURE__ */ new Map();
  #version = 0;
  #goesOn = null;
  constructor(path) {
    this.#path = path;
  }
  /** Changes whenever there may be more, or an end. */
  get version() {
    return this.#version;
  }
  /** Tells the followers to look again. */
  nudge() {
    this.#version++;
    this.grown.ring();
  }
  /** Whether more may come; asked once a change for all followers. */
  goesOn(ask) {
    if (this.#goesOn?.version !== this.#version) this.#goesOn = { version: this.#version, value: ask() };
    return this.#goesOn.value;
  }
  /** The whole lines from an offset, the end of a block before; empty where no further line is complete yet. */
  at(offset) {
    const kept = this.#blocks.get(offset);
    if (kept) return kept;
    const block = this.#read(offset);
    this.#blocks.set(offset, block);
    if (this.#blocks.size > KEPT_BLOCKS) this.#blocks.delete(this.#blocks.keys().next().value);
    const forget = () => this.#blocks.delete(offset);
    block.then(({ length }) => length > 0 || forget(), forget);
    return block;
  }
  async close() {
    await (await this.#file)?.close();
  }
  async #read(offset) {
    const file = await (this.#file ??= open(this.#path, "r").catch(() => null));
    if (!file) {
      this.#file = null;
      return Buffer.alloc(0);
    }
    for (let size = BLOCK_BYTES; ; size *= 2) {
      const buffer = Buffer.allocUnsafe(size);
      const { bytesRead } = await file.read(buffer, 0, size, offset);
      const end = bytesRead === 0 ? -1 : buffer.lastIndexOf(NEWLINE$1, bytesRead - 1);
      if (end !== -1 || bytesRead < size || size >= LONGEST_LINE_BYTES)
        return Buffer.from(buffer.subarray(0, end + 1));
    }
  }
}

const ESCAPE = 27;
const STRINGS_AFTER_ESCAPE = "PX]^_";
const STRINGS = "\x90\x98\x9D\x9E\x9F";
const SEQUENCE = "\x9B";
function cleanLine(line) {
  const controls = /[\u0000-\u0008\u000a-\u001f\u007f-\u009f]/g;
  if (!controls.test(line)) return line;
  const shown = lastDrawing(line);
  let clean = "";
  let at = 0;
  controls.lastIndex = 0;
  for (let found = controls.exec(shown); found !== null; found = controls.exec(shown)) {
    const end = endOfControl(shown, found.index);
    const control = shown.slice(found.index, end);
    clean += shown.slice(at, found.index) + (isColour(control) ? control : "");
    at = controls.lastIndex = end;
  }
  return clean + shown.slice(at);
}
function lastDrawing(line) {
  let end = line.length;
  while (line[end - 1] === "\r") end -= 1;
  return line.slice(line.lastIndexOf("\r", end - 1) + 1, end);
}
function isColour(control) {
  return /^\u001b\[[\d;:]*m$/.test(control);
}
function endOfControl(text, at) {
  const first = text[at];
  if (first === SEQUENCE) return endOfSequence(text, at + 1);
  if (STRINGS.includes(first)) return endOfString(text, at + 1);
  if (first.charCodeAt(0) !== ESCAPE || at + 1 === text.length) return at + 1;
  const second = text[at + 1];
  if (second === "[") return endOfSequence(text, at + 2);
  if (STRINGS_AFTER_ESCAPE.includes(second)) return endOfString(text, at + 2);
  return skipOne(text, skip(text, at + 1, 32, 47), 48, 126);
}
function endOfSequence(text, at) {
  return skipOne(text, skip(text, skip(text, at, 48, 63), 32, 47), 64, 126);
}
function endOfString(text, at) {
  const control = /[\u0000-\u001f\u007f-\u009f]/g;
  control.lastIndex = at;
  return control.exec(text)?.index ?? text.length;
}
function skip(text, at, least, most) {
  let end = at;
  while (text.charCodeAt(end) >= least && text.charCodeAt(end) <= most) end += 1;
  return end;
}
function skipOne(text, at, least, most) {
  return text.charCodeAt(at) >= least && text.charCodeAt(at) <= most ? at + 1 : at;
}

const MAX_LOG_BYTES = 20 * 1024 * 1024;
const SYSTEM_BYTES = 256 * 1024;
const FLUSH_DELAY_MS = 20;
const MAX_PENDING_BYTES = 4 * 1024 * 1024;
const TAIL_BYTES = 256 * 1024;
const NEWLINE = 10;
class LogWriter {
  #listeners;
  #file;
  #pending = [];
  #pendingBytes = 0;
  #size = 0;
  /** Lines left out since the log last said so, and why. */
  #lost = 0;
  #isCut = false;
  #timer;
  #flushed;
  constructor(path, listeners) {
    this.#listeners = listeners;
    makePrivateDirectory(dirname(path));
    this.#file = openWhole(path);
    this.#flushed = this.#file.then(async (file) => {
      this.#size += (await file.stat()).size;
    });
    this.#flushed.catch(() => {
    });
  }
  /** A line of the server's own. */
  system(line) {
    this.write({ ts: (/* @__PURE__ */ new Date()).toISOString(), stream: "system", line });
  }
  /** A line of a program. */
  output(stream, line) {
    this.write({ ts: (/* @__PURE__ */ new Date()).toISOString(), stream, line });
  }
  /** Adds a line. A program's is left out and counted when the log is full, or when it comes faster than the disk takes it. */
  write(entry) {
    const isFull = this.#size >= MAX_LOG_BYTES - SYSTEM_BYTES;
    if (entry.stream !== "system" && (isFull || this.#pendingBytes > MAX_PENDING_BYTES)) {
      this.#lost++;
      if (isFull && !this.#isCut) this.#cut();
      return;
    }
    this.#tellLost(isFull);
    this.#append({ ...entry, line: cleanLine(entry.line) });
  }
  /** Resolves when a producer that can wait may go on. */
  async ready() {
    while (this.#pendingBytes > MAX_PENDING_BYTES / 2) await this.flushed();
  }
  /** Resolves when what was written so far is in the file, or cannot be. */
  async flushed() {
    this.#flush();
    await this.#flushed.catch(() => {
    });
  }
  /** Writes what waits and closes the file. Throws `ENOSPC` and its like. */
  async close() {
    this.#tellLost(this.#isCut);
    this.#flush();
    try {
      await this.#flushed;
    } finally {
      this.#listeners.closed();
      await this.#file.then((file) => file.close());
      this.#listeners.grown();
    }
  }
  #cut() {
    this.#isCut = true;
    this.#say(`the log is cut here: the output has reached its ${MAX_LOG_BYTES / 1024 / 1024} MiB`);
  }
  #tellLost(isFull) {
    if (this.#lost === 0) return;
    const lines = this.#lost === 1 ? "1 line was" : `${this.#lost} lines were`;
    this.#lost = 0;
    this.#say(
      isFull ? `${lines} left out here: the log is full` : `${lines} lost here: the output came faster than the disk takes it`
    );
  }
  #say(line) {
    this.#append({ ts: (/* @__PURE__ */ new Date()).toISOString(), stream: "system", line });
  }
  #append(line) {
    const text = `${JSON.stringify(line)}
`;
    const bytes = Buffer.byteLength(text);
    if (this.#size + bytes > MAX_LOG_BYTES) return;
    this.#size += bytes;
    this.#pendingBytes += bytes;
    this.#pending.push(text);
    this.#timer ??= setTimeout(() => this.#flush(), FLUSH_DELAY_MS);
  }
  #flush() {
    clearTimeout(this.#timer);
    this.#timer = void 0;
    if (this.#pending.length === 0) return;
    const bytes = Buffer.from(this.#pending.join(""));
    this.#pending = [];
    this.#flushed = this.#flushed.then(async () => {
      await (await this.#file).appendFile(bytes);
      this.#listeners.grown();
    }).finally(() => this.#pendingBytes -= bytes.length);
    this.#flushed.catch(() => {
    });
  }
}
async function openWhole(path) {
  const file = await open(path, "a+", PRIVATE_FILE_MODE);
  const { size } = await file.stat();
  const tail = Buffer.alloc(Math.min(TAIL_BYTES, size));
  const { bytesRead } = await file.read(tail, 0, tail.length, size - tail.length);
  const torn = bytesRead - 1 - tail.lastIndexOf(NEWLINE, bytesRead - 1);
  if (torn > 0) await file.truncate(size - torn);
  return file;
}

const AT_ONCE = 25;
let waiting = [];
function takeTurn() {
  return new Promise((resolve) => {
    if (waiting.length === 0) setImmediate(admit);
    waiting.push(resolve);
  });
}
function admit() {
  const admitted = waiting.slice(0, AT_ONCE);
  waiting = waiting.slice(AT_ONCE);
  if (waiting.length > 0) setImmediate(admit);
  for (const go of admitted) go();
}

const writers = /* @__PURE__ */ new Map();
const readers = /* @__PURE__ */ new Map();
function pathOf(id) {
  return join(useContext().options.dataDirectory, "logs", `${id}.ndjson`);
}
function openLog(id) {
  const closed = () => {
    if (writers.get(id) === writer) writers.delete(id);
  };
  const writer = new LogWriter(pathOf(id), { grown: () => nudgeLog(id), closed });
  writers.set(id, writer);
  return writer;
}
async function noteInLog(id, line) {
  const running = writers.get(id);
  if (running) return running.system(line);
  const log = openLog(id);
  log.system(line);
  await log.close();
}
async function removeLog(id) {
  await rm(pathOf(id), { force: true });
}
function isOpen(id) {
  return writers.has(id);
}
function nudgeLog(id) {
  readers.get(id)?.reader.nudge();
}
async function* readLog(id, unfinished, signal) {
  const shared = readers.get(id) ?? { reader: new LogReader(pathOf(id)), followers: 0 };
  const { reader } = shared;
  readers.set(id, shared);
  shared.followers++;
  try {
    let judged = reader.version;
    let more = unfinished();
    for (let offset = 0; !signal.aborted; ) {
      await takeTurn();
      const { version } = reader;
      const block = await reader.at(offset);
      offset += block.length;
      if (block.length > 0) yield block;
      else if (!more) return;
      else if (judged !== version) {
        more = reader.goesOn(unfinished);
        judged = version;
      } else if (version === reader.version) await reader.grown.wait(signal);
    }
  } finally {
    shared.followers--;
    if (shared.followers === 0) {
      readers.delete(id);
      await reader.close();
    }
  }
}
function linesOf(block) {
  return block.toString("utf8").split("\n").filter((line) => line.endsWith('"}'));
}
function parseLines(block) {
  return linesOf(block).map((line) => JSON.parse(line));
}

export { Bell as B, readLog as a, noteInLog as b, cleanLine as c, openWhole as d, isOpen as i, linesOf as l, nudgeLog as n, openLog as o, parseLines as p, removeLog as r, takeTurn as t };
