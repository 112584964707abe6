import { setTimeout as setTimeout$1 } from 'node:timers/promises';
import { connect } from 'node:net';
import { readdirSync, openSync, constants, closeSync } from 'node:fs';
import { join, dirname, basename } from 'node:path';

const SOCKET_PATH_BYTES = 107;
function controlSocketFile(dataDirectory) {
  return join(proxyDirectory(dataDirectory), "control.sock");
}
function olderControlSocketFile(dataDirectory) {
  return join(dataDirectory, "proxy.sock");
}
function proxyDirectory(dataDirectory) {
  return join(dataDirectory, "proxy");
}
function supervisorPidFile(dataDirectory) {
  return join(proxyDirectory(dataDirectory), "supervisor.pid");
}
function workerSocketFiles(dataDirectory) {
  const directory = proxyDirectory(dataDirectory);
  let names;
  try {
    names = readdirSync(directory);
  } catch {
    return [];
  }
  return names.flatMap((name) => {
    const pid = /^worker-(\d+)\.sock$/.exec(name)?.[1];
    return pid === void 0 ? [] : [{ pid: Number(pid), file: join(directory, name) }];
  });
}
async function withSocketPath(file, use) {
  if (Buffer.byteLength(file) <= SOCKET_PATH_BYTES) return use(file);
  const folder = openSync(dirname(file), constants.O_RDONLY | constants.O_DIRECTORY);
  try {
    return await use(`/proc/self/fd/${folder}/${basename(file)}`);
  } finally {
    closeSync(folder);
  }
}

const MAX_LINE_BYTES = 64 * 1024 * 1024;
const CONNECT_TIMEOUT_MS = 2e3;
const BODY = ',"body":';
class ChannelError extends Error {
  name = "ChannelError";
  code;
  address;
  constructor(code, message, address) {
    super(message);
    this.code = code;
    this.address = address;
  }
}
class Channel {
  /** Called for each event of the other side. */
  onEvent = () => {
  };
  /** Called once when the connection has ended, for whatever reason. */
  onClose = () => {
  };
  socket;
  #handler;
  #waiting = /* @__PURE__ */ new Map();
  #nextId = 1;
  #pieces = [];
  #piecesBytes = 0;
  #closed = false;
  constructor(socket, handler) {
    this.socket = socket;
    this.#handler = handler;
    socket.on("data", (data) => this.#read(data));
    socket.on("error", () => {
    });
    socket.on("close", () => this.#end());
  }
  get closed() {
    return this.#closed;
  }
  /** Sends a request and waits for its answer; text as body is its JSON. Throws `ChannelError`. */
  request(op, body, timeoutMs) {
    if (this.#closed) return Promise.reject(new ChannelError("closed", `${op}: the connection has ended`));
    const id = this.#nextId++;
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#waiting.delete(id);
        reject(new ChannelError("timeout", `${op}: no answer within ${timeoutMs} ms`));
      }, timeoutMs);
      this.#waiting.set(id, { resolve, reject, timer });
      const text = typeof body === "string" ? body : JSON.stringify(body);
      this.socket.write(`{"id":${id},"op":${JSON.stringify(op)}${BODY}${text}}
`);
    });
  }
  /** Sends an event; it is lost when the connection has ended. */
  event(event, body) {
    if (!this.#closed) this.#send({ event, body });
  }
  /** Ends the connection after what was sent. */
  close() {
    this.socket.end();
  }
  /** Ends the connection now. */
  destroy() {
    this.socket.destroy();
  }
  #send(message) {
    this.socket.write(`${JSON.stringify(message)}
`);
  }
  #read(data) {
    let start = 0;
    for (let end = data.indexOf(10); end >= 0; end = data.indexOf(10, start)) {
      this.#pieces.push(data.subarray(start, end));
      const line = Buffer.concat(this.#pieces).toString();
      this.#pieces = [];
      this.#piecesBytes = 0;
      start = end + 1;
      this.#line(line);
    }
    if (start === data.length) return;
    this.#pieces.push(data.subarray(start));
    this.#piecesBytes += data.length - start;
    if (this.#piecesBytes > MAX_LINE_BYTES) this.destroy();
  }
  #line(line) {
    let message;
    try {
      message = JSON.parse(line);
    } catch {
      this.destroy();
      return;
    }
    if (typeof message !== "object" || message === null) return this.destroy();
    const { id, re, op, event, body, result, error } = message;
    if (typeof op === "string" && typeof id === "number")
      void this.#answer(id, op, objectOf(body), line.slice(line.indexOf(BODY) + BODY.length, -1));
    else if (typeof event === "string") this.onEvent(event, objectOf(body));
    else if (typeof re === "number") this.#settle(re, result, error);
    else this.destroy();
  }
  async #answer(id, op, body, text) {
    try {
      const result = await this.#handler(op, body, text);
      if (!this.#closed) this.#send({ re: id, result: result ?? null });
    } catch (error) {
      if (!this.#closed) this.#send({ re: id, error: wireError(error) });
    }
  }
  #settle(id, result, error) {
    const waiting = this.#waiting.get(id);
    if (!waiting) return;
    this.#waiting.delete(id);
    clearTimeout(waiting.timer);
    if (error === void 0) return waiting.resolve(result);
    const { code, message, address } = objectOf(error);
    waiting.reject(new ChannelError(code, message, address));
  }
  #end() {
    if (this.#closed) return;
    this.#closed = true;
    for (const waiting of this.#waiting.values()) {
      clearTimeout(waiting.timer);
      waiting.reject(new ChannelError("closed", "the connection ended before the answer"));
    }
    this.#waiting.clear();
    this.onClose();
  }
}
function connectChannel(file, handler) {
  return withSocketPath(
    file,
    (path) => new Promise((resolve, reject) => {
      const socket = connect(path);
      const timer = setTimeout(() => {
        socket.destroy();
        reject(new ChannelError("timeout", `${file} does not accept connections`));
      }, CONNECT_TIMEOUT_MS);
      socket.once("connect", () => {
        clearTimeout(timer);
        socket.off("error", reject);
        resolve(new Channel(socket, handler));
      });
      socket.once("error", (error) => {
        clearTimeout(timer);
        reject(error);
      });
    })
  );
}
function objectOf(value) {
  return typeof value === "object" && value !== null ? value : {};
}
function wireError(error) {
  const message = error instanceof Error ? error.message : String(error);
  if (error instanceof ChannelError) {
    const code = error.code === "closed" || error.code === "timeout" ? "failed" : error.code;
    return { code, message, ...error.address === void 0 ? {} : { address: error.address } };
  }
  return { code: "failed", message };
}

const HELLO_MS = 5e3;
const START_POLL_MS = 25;
async function greet(dataDirectory, patienceMs) {
  const deadline = performance.now() + patienceMs;
  for (; ; ) {
    const found = await greetAt(controlSocketFile(dataDirectory)) ?? await greetAt(olderControlSocketFile(dataDirectory));
    if (found || performance.now() >= deadline) return found;
    await setTimeout$1(START_POLL_MS);
  }
}
async function endOlder(dataDirectory, { hello }) {
  const older = await greetAt(olderControlSocketFile(dataDirectory));
  if (!older) return false;
  const { channel } = older;
  const { pid, server_id } = older.hello;
  try {
    if (pid === hello.pid || server_id !== hello.server_id) return false;
    const ended = new Promise((resolve) => channel.onClose = () => resolve(true));
    process.kill(pid, "SIGUSR2");
    if (await Promise.race([ended, setTimeout$1(HELLO_MS, false, { ref: false })])) return true;
    throw new Error(`the older proxy beside this one (process ${pid}) does not end: end it`);
  } finally {
    channel.destroy();
  }
}
async function greetAt(socketFile) {
  try {
    const channel = await connectChannel(socketFile, () => null);
    const hello = await new Promise((resolve, reject) => {
      const timer = setTimeout(() => {
        channel.destroy();
        reject(new ChannelError("timeout", "the proxy accepts but does not greet"));
      }, HELLO_MS);
      channel.onEvent = (event, body) => {
        clearTimeout(timer);
        if (event === "hello") resolve(body);
      };
      channel.onClose = () => {
        clearTimeout(timer);
        reject(new ChannelError("closed", "the proxy ended the connection"));
      };
    });
    channel.onClose = () => {
    };
    return { channel, hello };
  } catch (error) {
    if (error instanceof ChannelError && error.code === "timeout") throw error;
    return null;
  }
}

export { ChannelError as C, HELLO_MS as H, START_POLL_MS as S, connectChannel as c, endOlder as e, greet as g, proxyDirectory as p, supervisorPidFile as s, workerSocketFiles as w };
