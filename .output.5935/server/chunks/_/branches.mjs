import { join, dirname, extname } from 'node:path';
import { q as randomHex, m as messageOf, O as sameSecret, l as logger, k as PRIVATE_DIRECTORY_MODE, A as AppError, J as useContext } from '../nitro/nitro.mjs';
import { F as ForbiddenPlace, r as resolveJudged, c as connectJudged, o as ownReach } from './judged.mjs';
import { s as servingConnection } from './serving.mjs';
import { p as parseRepositoryUrl, s as splitCredentials, u as usualPort } from './url.mjs';
import { z } from 'zod';
import { once } from 'node:events';
import { createServer as createServer$1 } from 'node:net';
import { createServer, request as request$1 } from 'node:http';
import { request } from 'node:https';
import { a as answerOf } from './answer-of.mjs';
import { b as bareHost } from './bare-host.mjs';
import { spawn } from 'node:child_process';
import { l as lowerPriority, a as watchMemory, w as withReader, R as REMOVE_TREE, B as BuildFailure } from './jobs.mjs';
import { mkdir, writeFile, readFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { S as Slots } from './slots.mjs';

const GIT_CREDENTIALS_FD = 4;
const GIT_IS_MISSING = 127;

const MAX_REQUEST_CHARACTERS = 16 * 1024;
class CredentialDesk {
  #entries = [];
  /** Adds credentials for one address, or for all below an origin or an owner there. */
  add(place, username, password) {
    this.#entries.push({ place, username: username ?? "", password: password ?? "" });
  }
  /** What is for an address of the web; null when nothing is. */
  credentialsAt(url) {
    const { protocol, host, pathname } = new URL(url);
    return this.#find({ protocol: protocol.slice(0, -1), host, path: pathname.slice(1) }) ?? null;
  }
  /** Serves the requests that come over a stream until it ends. */
  serve(stream) {
    let text = "";
    stream.on("error", () => {
    });
    stream.setEncoding("utf8").on("data", (piece) => {
      text += piece;
      const requests = text.split("\n\n");
      text = requests.pop();
      if (text.length > MAX_REQUEST_CHARACTERS) stream.destroy();
      for (const request of requests) if (request.trim() !== "") stream.write(this.#answer(request));
    });
  }
  #answer(request) {
    const fields = Object.fromEntries(
      request.split("\n").map((line) => line.split(/=(.*)/s).slice(0, 2))
    );
    const asked = Request.safeParse(fields);
    const found = asked.success ? this.#find(asked.data) : void 0;
    return found ? `username=${found.username}
password=${found.password}

` : "\n";
  }
  /** The credentials of the very address, else those of a place that it is below. */
  #find({ protocol, host, path }) {
    const address = `${protocol}://${host}/${path}`;
    return this.#entries.find(({ place }) => place === address || decoded(place) === decoded(address)) ?? this.#entries.find(({ place }) => isBelow(address, place));
  }
}
const HELPER = `!f() { test "$1" = get || exit 0; { cat; echo; } >&${GIT_CREDENTIALS_FD}; while IFS= read -r line <&${GIT_CREDENTIALS_FD} && test -n "$line"; do printf "%s\\n" "$line"; done; }; f`;
const ASK_DESK = ["-c", "credential.useHttpPath=true", "-c", `credential.helper=${HELPER}`];
const Request = z.object({ protocol: z.string(), host: z.string(), path: z.string().default("") });
function isBelow(address, place) {
  return !/\/(\.|%2e){1,2}(\/|$)/i.test(address) && address.toLowerCase().startsWith(`${place.toLowerCase()}/`);
}
function decoded(address) {
  const parsed = parseRepositoryUrl(address);
  if (parsed === null) return address;
  const { protocol, host, port, path } = parsed;
  return JSON.stringify([protocol, host, port, path.split("/").filter((part) => part !== "")]);
}

const HOP_BY_HOP = /* @__PURE__ */ new Set([
  "connection",
  "keep-alive",
  "proxy-authenticate",
  "proxy-authorization",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade"
]);
const CONNECT_MS$1 = 2e4;
const SECURE_PORT = 443;
const PLAIN_PORT = 80;
function createForwardGate(passOf) {
  const server = createServer((request, response) => {
    forward(passOf, request, response).catch((error) => refuse$1(response, error));
  });
  server.on("connect", (request, client, head) => {
    client.on("error", () => {
    });
    tunnel(passOf, request, client, head).catch((error) => {
      client.end(`HTTP/1.1 ${statusOf(error)}\r
${error instanceof NoKey ? ASK_FOR_KEY : ""}\r
`);
    });
  });
  return server;
}
class NoKey extends Error {
}
const ASK_FOR_KEY = 'Proxy-Authenticate: Basic realm="git"\r\nConnection: close\r\nContent-Length: 0\r\n';
function statusOf(error) {
  if (error instanceof NoKey) return "407 Proxy Authentication Required";
  return error instanceof ForbiddenPlace ? "403 Forbidden" : "502 Bad Gateway";
}
function refuse$1(response, error) {
  if (response.headersSent) return void response.destroy();
  if (error instanceof NoKey) response.setHeader("Proxy-Authenticate", 'Basic realm="git"');
  response.writeHead(Number.parseInt(statusOf(error), 10)).end();
}
async function forward(passOf, request, response) {
  const pass = opened(passOf, request);
  const url = URL.parse(request.url ?? "");
  if (url?.protocol !== "http:") throw new ForbiddenPlace("is no address of the web");
  await pass.judge(hostOf(url), Number(url.port) || PLAIN_PORT);
  const asked = ask(pass, "http", {
    method: request.method,
    path: url.href,
    headers: { ...endToEnd(request.headers), host: url.host }
  });
  response.once("close", () => asked.destroy());
  request.pipe(asked);
  const answer = await answerOf(asked);
  response.writeHead(statusFor(pass, "http", answer), endToEnd(answer.headers));
  answer.on("error", () => response.destroy()).pipe(response);
}
async function tunnel(passOf, request, client, head) {
  const pass = opened(passOf, request);
  const place = URL.parse(`https://${request.url}`);
  if (place === null) throw new ForbiddenPlace("is no place");
  const port = Number(place.port) || SECURE_PORT;
  await pass.judge(hostOf(place), port);
  const path = `${place.hostname}:${port}`;
  const asked = ask(pass, "https", { method: "CONNECT", path, headers: { host: path } });
  client.once("close", () => asked.destroy());
  asked.end();
  const [answer, socket] = await connectionOf(asked);
  const status = statusFor(pass, "https", answer);
  if (status !== 200) {
    socket.destroy();
    client.end(`HTTP/1.1 ${status} ${answer.statusMessage}\r
\r
`);
    return;
  }
  client.write("HTTP/1.1 200 Connected\r\n\r\n");
  if (head.length > 0) socket.write(head);
  socket.on("error", () => client.destroy()).once("close", () => client.destroy());
  client.once("close", () => socket.destroy());
  client.pipe(socket).pipe(client);
}
function opened(passOf, request) {
  const encoded = /^Basic ([A-Za-z0-9+/=]+)$/i.exec(request.headers["proxy-authorization"] ?? "")?.[1] ?? "";
  const key = Buffer.from(encoded, "base64").toString("latin1").replace(/^git:/, "");
  const pass = passOf(key);
  if (pass === void 0) throw new NoKey();
  return pass;
}
function ask(pass, scheme, { method, path, headers }) {
  const proxy = pass.proxyFor(scheme);
  if (proxy === null) throw new ForbiddenPlace(`is asked for by ${scheme}, for which there is no proxy`);
  const isSecure = proxy.protocol === "https:";
  const { username, password } = proxy;
  const signIn = Buffer.from(`${decodeURIComponent(username)}:${decodeURIComponent(password)}`);
  const asked = (isSecure ? request : request$1)({
    host: hostOf(proxy),
    port: Number(proxy.port) || (isSecure ? SECURE_PORT : PLAIN_PORT),
    agent: false,
    method,
    path,
    headers: {
      ...headers,
      ...username === "" ? {} : { "proxy-authorization": `Basic ${signIn.toString("base64")}` }
    }
  });
  const slow = setTimeout(() => asked.destroy(new Error("it takes no connection")), CONNECT_MS$1);
  asked.once(
    "socket",
    (socket) => socket.once(isSecure ? "secureConnect" : "connect", () => clearTimeout(slow))
  );
  asked.once("close", () => clearTimeout(slow));
  return asked.on("error", () => pass.onProxyFault(proxy, "cannot be reached or broke off"));
}
function connectionOf(asked) {
  return new Promise((resolve, reject) => {
    asked.once("connect", (answer, socket) => resolve([answer, socket]));
    asked.once("close", () => reject(new Error("the proxy broke off")));
  });
}
function statusFor(pass, scheme, { statusCode }) {
  if (statusCode !== 407) return statusCode;
  pass.onProxyFault(pass.proxyFor(scheme), "refused the credentials");
  return 502;
}
function endToEnd(headers) {
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !HOP_BY_HOP.has(name)));
}
function hostOf({ hostname }) {
  return bareHost(hostname).toLowerCase();
}

const OUTBOUND_PROXY = {
  http: ["http_proxy", "all_proxy", "ALL_PROXY"],
  https: ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
};
function outboundProxy(scheme) {
  const named = OUTBOUND_PROXY[scheme].map((name) => process.env[name]).find((value) => value);
  if (named === void 0) return null;
  return URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(named) ? named : `http://${named}`);
}
function isOfHttp({ protocol }) {
  return protocol === "http:" || protocol === "https:";
}

const CONNECT_MS = 2e4;
const GREETING_MS = 1e4;
const KEY_BYTES$1 = 16;
const VERSION = 5;
const BY_PASSWORD = 2;
const NO_METHOD = 255;
const CONNECT = 1;
const IPV4 = 1;
const NAME = 3;
const IPV6 = 4;
const REPLY = { granted: 0, forbidden: 2, unreachable: 4, refused: 5, unsupported: 7 };
class Pass {
  #key = randomHex(KEY_BYTES$1);
  #gate;
  #reach;
  #hosts = /* @__PURE__ */ new Set();
  /** Why the last connection could not be made; null when it could. */
  fault = null;
  constructor(gate2, reach) {
    this.#gate = gate2;
    this.#reach = reach;
    passes.set(this.#key, this);
  }
  /** Lets git's programs reach one host more. */
  allow(host) {
    this.#hosts.add(host);
  }
  /** Ends it: connections that are open stay, new ones are refused. */
  close() {
    passes.delete(this.#key);
  }
  /** What git's programs need to be told (curl(1), `--socks5-hostname`). A SOCKS proxy of the host's own they are told themselves. */
  get environment() {
    const { port, forwardPort } = this.#gate;
    const wayOut = (scheme) => {
      const proxy = outboundProxy(scheme);
      if (proxy === null) return `socks5h://git:${this.#key}@127.0.0.1:${port}`;
      return isOfHttp(proxy) ? `http://git:${this.#key}@127.0.0.1:${forwardPort}` : proxy.href;
    };
    return {
      DEPLOYER_GIT_GATE: `${port}:${this.#key}`,
      // Else it would ask without the key first (git-config(1), http.proxyAuthMethod).
      GIT_HTTP_PROXY_AUTHMETHOD: "basic",
      http_proxy: wayOut("http"),
      https_proxy: wayOut("https")
    };
  }
  proxyFor(scheme) {
    return outboundProxy(scheme);
  }
  /**
   * Judges a place that is reached through the host's own proxy, which may know names that are not known here.
   * Throws when it may not be reached; `fault` then says why.
   */
  async judge(host, port) {
    this.fault = null;
    try {
      this.#assertAllowed(host);
      await resolveJudged(host, port, this.#reach);
    } catch (error) {
      if (!(error instanceof ForbiddenPlace)) return;
      this.fault = explain$1(error, host);
      throw error;
    }
  }
  onProxyFault({ host }, what) {
    this.fault ??= { kind: "unreachable", message: `the outbound proxy ${host} of this server ${what}` };
  }
  /** An address of a host, judged; a name is resolved now. Throws when it may not be reached; `fault` then says why. */
  async resolve(host, port) {
    try {
      return await resolveJudged(host, port, this.#reach);
    } catch (error) {
      this.fault = explain$1(error, host);
      throw error;
    }
  }
  /** Connects to a place if that may be. Throws when not; `fault` then says why. */
  async connect(host, port) {
    try {
      this.#assertAllowed(host);
      const socket = connectJudged(host, port, this.#reach).setNoDelay();
      socket.on("error", () => {
      });
      await once(socket, "connect", { signal: AbortSignal.timeout(CONNECT_MS) }).catch((error) => {
        socket.destroy();
        throw error;
      });
      this.fault = null;
      return socket;
    } catch (error) {
      this.fault = explain$1(error, host);
      throw error;
    }
  }
  #assertAllowed(host) {
    if (this.#hosts.has(host)) return;
    throw new ForbiddenPlace(
      `leads to another host, ${host}, which is not followed: give that address itself`
    );
  }
}
const passes = /* @__PURE__ */ new Map();
let gate;
async function openPass(reach) {
  gate ??= listen();
  return new Pass(await gate, reach);
}
async function listen() {
  const socks = createServer$1({ noDelay: true }, (socket) => void serve(socket).catch(() => socket.destroy()));
  const [port, forwardPort] = await Promise.all([socks, createForwardGate(passOf)].map(portOf));
  return { port, forwardPort };
}
async function portOf(server) {
  server.unref().listen(0, "127.0.0.1");
  await once(server, "listening");
  return server.address().port;
}
function passOf(key) {
  return [...passes].find(([known]) => sameSecret(known, key))?.[1];
}
async function serve(client) {
  client.on("error", () => {
  });
  client.setTimeout(GREETING_MS, () => client.destroy());
  const take = takingFrom(client);
  const pass = await admit$1(client, take);
  const [version, command, , kind] = await take(4);
  const host = await readHost(take, kind);
  const port = (await take(2)).readUInt16BE();
  if (version !== VERSION || command !== CONNECT || host === null) {
    client.end(reply(REPLY.unsupported));
    return;
  }
  client.setTimeout(0);
  const remote = await pass.connect(host, port).catch((error) => {
    client.end(reply(replyTo(error)));
    return null;
  });
  if (remote === null) return;
  client.write(reply(REPLY.granted));
  client.pipe(remote).pipe(client);
  client.once("close", () => remote.destroy());
  remote.once("close", () => client.destroySoon());
}
async function admit$1(client, take) {
  const [version, methods] = await take(2);
  const offered = await take(methods);
  if (version !== VERSION || !offered.includes(BY_PASSWORD)) {
    client.end(Buffer.from([VERSION, NO_METHOD]));
    throw new Error("no password is offered");
  }
  client.write(Buffer.from([VERSION, BY_PASSWORD]));
  const [, userLength] = await take(2);
  await take(userLength);
  const [keyLength] = await take(1);
  const key = (await take(keyLength)).toString("latin1");
  const pass = passOf(key);
  client.write(Buffer.from([1, pass ? 0 : 1]));
  if (!pass) throw new Error("the key opens nothing");
  return pass;
}
async function readHost(take, kind) {
  if (kind === NAME) {
    const [length] = await take(1);
    return (await take(length)).toString("latin1").toLowerCase();
  }
  if (kind === IPV4) return (await take(4)).join(".");
  if (kind !== IPV6) return null;
  const bytes = await take(16);
  const groups = Array.from({ length: 8 }, (_, index) => bytes.readUInt16BE(2 * index).toString(16));
  return new URL(`http://[${groups.join(":")}]/`).hostname.slice(1, -1);
}
function takingFrom(socket) {
  const closed = new AbortController();
  socket.once("close", () => closed.abort());
  return async (count) => {
    if (count === 0) return Buffer.alloc(0);
    for (; ; ) {
      const bytes = socket.read(count);
      if (bytes !== null && bytes.length === count) return bytes;
      if (socket.readableEnded || closed.signal.aborted) throw new Error("it ended");
      await once(socket, "readable", { signal: closed.signal });
    }
  };
}
function reply(code) {
  return Buffer.from([VERSION, code, 0, IPV4, 0, 0, 0, 0, 0, 0]);
}
function replyTo(error) {
  if (error instanceof ForbiddenPlace) return REPLY.forbidden;
  return error.code === "ECONNREFUSED" ? REPLY.refused : REPLY.unreachable;
}
function explain$1(error, host) {
  if (error instanceof ForbiddenPlace) return { kind: "refused", message: messageOf(error) };
  const isUnknown = ["ENOTFOUND", "EAI_AGAIN", "EAI_FAIL"].includes(
    error.code ?? ""
  );
  const message = isUnknown ? `the host ${host} cannot be found: check the address and the server's name resolution` : `the host ${host} cannot be reached or broke off: check the address and try again`;
  return { kind: "unreachable", message };
}

const MAX_PATH_BYTES = 4096;
const MAX_NAME_BYTES = 255;
const PATH_TOO_LONG = "a path of the repository is too long for the file system, or all are together: shorten it";
function isPathTooLong(path) {
  if (path.length <= MAX_NAME_BYTES / 3) return false;
  const isLonger = (text, most) => Buffer.byteLength(text.replaceAll("\uFFFD", "?")) > most;
  return isLonger(path, MAX_PATH_BYTES) || path.split("/").some((name) => isLonger(name, MAX_NAME_BYTES));
}

const DISK_FAULTS = [
  [/File name too long/, PATH_TOO_LONG],
  [
    /No space left on device|Out of diskspace|Disk quota exceeded|Read-only file system|unable to write (?:file|new index)/,
    "the disk of this server is full or cannot be written to: make room on it, then try again"
  ]
];
class GitError extends Error {
  name = "GitError";
  code;
  messages;
  constructor(command, code, messages) {
    super(`git ${command} ended with ${code}: ${messages.trim()}`);
    this.code = code;
    this.messages = messages;
  }
}
function diskFault({ messages }) {
  const own = messages.split("\n").filter((line) => !/^(?:fatal: )?remote(?: error)?:/.test(line));
  return DISK_FAULTS.find(([words]) => own.some((line) => words.test(line)))?.[1] ?? null;
}

const MAX_OUTPUT_CHARACTERS = 32 * 1024 * 1024;
const MAX_LINE_CHARACTERS = 64 * 1024;
class TooMuchOutput extends Error {
  name = "TooMuchOutput";
}
class WholeOutput {
  #text = "";
  feed(text) {
    this.#text += text;
    if (this.#text.length > MAX_OUTPUT_CHARACTERS)
      throw new TooMuchOutput(`git writes more than ${MAX_OUTPUT_CHARACTERS / 1024 ** 2} MiB about it`);
  }
  finish() {
    return this.#text;
  }
}
class OutputLines {
  #reader;
  #rest = "";
  constructor(reader) {
    this.#reader = reader;
  }
  feed(text) {
    const lines = (this.#rest + text).split(this.#reader.end);
    this.#rest = lines.pop();
    for (const line of lines) this.#give(line);
    refuseLong(this.#rest);
  }
  finish() {
    if (this.#rest !== "") this.#give(this.#rest);
    return "";
  }
  #give(line) {
    refuseLong(line);
    this.#reader.onLine(line);
  }
}
function refuseLong(line) {
  if (line.length > MAX_LINE_CHARACTERS)
    throw new TooMuchOutput(`a name in it has more than ${MAX_LINE_CHARACTERS / 1024} KiB`);
}

const KEY_BYTES = 16;
class GitProcess {
  #child;
  #mark = `\0${randomHex(KEY_BYTES)} `;
  #output;
  #messages;
  #ended = Promise.withResolvers();
  /** Why it was killed. */
  #reason;
  /** When the process and all that it started are gone. */
  closed;
  /** `onMemory` is told what git and all that it starts takes, again and again. */
  constructor(program, desk, onMemory) {
    this.#child = spawn(process.execPath, [program], {
      // git would take a repository that it finds there for its own.
      cwd: "/",
      env: {},
      // The fourth is node's channel, which closes with this process, however that ends. At the last git asks for credentials.
      stdio: ["ignore", "pipe", "pipe", "ipc", "pipe"],
      detached: true
    });
    lowerPriority(this.#child.pid);
    this.#output = new MarkedStream(this.#child.stdout, this.#mark, (error) => this.kill(error));
    this.#messages = new MarkedStream(this.#child.stderr, this.#mark, (error) => this.kill(error));
    const questions = this.#child.stdio[GIT_CREDENTIALS_FD];
    if (desk) desk.serve(questions);
    else questions.on("error", () => {
    }).resume();
    const stopWatching = watchMemory(this.#child.pid ?? 0, onMemory);
    this.#ended.promise.catch(() => {
    });
    this.closed = new Promise((resolve) => {
      const onEnd = (how) => {
        stopWatching();
        this.#ended.reject(this.#reason ?? how);
        resolve();
      };
      this.#child.once("error", onEnd);
      this.#child.once("exit", () => this.#killGroup());
      this.#child.once(
        "close",
        (code, by) => onEnd(new GitError("", by ?? code ?? "no code", "the process that runs it was ended"))
      );
    });
  }
  /** Runs a command and answers its exit code. Throws the reason of `kill`, or says how the process ended. */
  async run(order, streams) {
    const ends = [
      this.#output.until((text) => streams.onOutput(text)),
      this.#messages.until((text) => streams.onMessages(text))
    ];
    this.#child.send({ ...order, mark: this.#mark }, () => {
    });
    const [code] = await Promise.race([Promise.all(ends), this.#ended.promise]);
    return code;
  }
  /** Ends it with all that it started. */
  kill(reason) {
    this.#reason ??= reason;
    this.#killGroup();
  }
  #killGroup() {
    try {
      if (this.#child.pid !== void 0) process.kill(-this.#child.pid, "SIGKILL");
    } catch {
    }
  }
}
class MarkedStream {
  #mark;
  /** The beginning of what may be a mark. */
  #held = "";
  #onText = () => {
  };
  #onCode = () => {
  };
  constructor(stream, mark, onFault) {
    this.#mark = mark;
    stream.setEncoding("utf8").on("data", (text) => {
      try {
        this.#feed(text);
      } catch (error) {
        onFault(error);
      }
    });
  }
  /** Hands on what comes before the next mark; answers the exit code that this carries. */
  until(onText) {
    return new Promise((resolve) => {
      this.#onText = onText;
      this.#onCode = resolve;
    });
  }
  #feed(text) {
    const all = this.#held + text;
    const at = this.#startOfMark(all);
    this.#held = all.slice(at);
    if (at > 0) this.#onText(all.slice(0, at));
    const end = this.#held.indexOf("\n");
    if (!this.#held.startsWith(this.#mark) || end < 0) return;
    const code = Number(this.#held.slice(this.#mark.length, end));
    this.#held = "";
    this.#onCode(code);
  }
  /** Where the mark begins, or what may become one; the end without. */
  #startOfMark(text) {
    const at = text.indexOf(this.#mark);
    if (at >= 0) return at;
    const zero = text.lastIndexOf("\0");
    return zero >= 0 && this.#mark.startsWith(text.slice(zero)) ? zero : text.length;
  }
}

const MAX_PIECE_BYTES = 256 * 1024 * 1024;
const MAX_MESSAGES_CHARACTERS = 16 * 1024;
const MAX_MEMORY_BYTES = 512 * 1024 * 1024;
let runner;
function provideGitRunner(file) {
  runner = file;
}
function gitDialer() {
  if (runner === void 0) throw new Error("there is no program that connects ssh");
  return join(dirname(runner), `git-dialer${extname(runner)}`);
}
class Git {
  #signal;
  #desk;
  #process = null;
  #isAtWork = false;
  /** `desk` answers git's questions for credentials; nothing does without. Throws the signal's reason when it has aborted. */
  constructor(signal, desk) {
    signal.throwIfAborted();
    this.#signal = signal;
    this.#desk = desk;
    this.#process = this.#start();
    signal.addEventListener("abort", this.#onAbort, { once: true });
  }
  /** Answers what the command wrote. Throws GitError, the signal's reason, or what `onOutputLine` threw. */
  async run(command) {
    this.#signal.throwIfAborted();
    if (this.#isAtWork) throw new Error("git was asked for a second command beside the first");
    this.#isAtWork = true;
    const running = this.#process ??= this.#start();
    try {
      return await runIn(running, command);
    } catch (error) {
      this.#process = null;
      running.kill(error);
      await running.closed;
      throw error;
    } finally {
      this.#isAtWork = false;
    }
  }
  /** Ends it; waits until all that it started is gone. */
  async end() {
    this.#signal.removeEventListener("abort", this.#onAbort);
    const running = this.#process;
    this.#process = null;
    running?.kill(new Error("git was ended"));
    await running?.closed;
  }
  #onAbort = () => this.#process?.kill(this.#signal.reason);
  #start() {
    if (runner === void 0) throw new Error("there is no program that starts git");
    const started = new GitProcess(runner, this.#desk, (bytes) => {
      if (bytes > MAX_MEMORY_BYTES) started.kill(new GitError("", "too much memory", TOO_MUCH_MEMORY));
    });
    return started;
  }
}
async function withGit(signal, work, desk) {
  const git = new Git(signal, desk);
  try {
    return await work(git);
  } finally {
    await git.end();
  }
}
async function runIn(running, command) {
  const output = command.onOutputLine ? new OutputLines(command.onOutputLine) : new WholeOutput();
  let messages = "";
  const order = {
    program: command.program ?? "git",
    arguments: command.program ? command.arguments : [...HARMLESS, ...command.arguments],
    environment: { ...baseEnvironment(), ...command.environment }
  };
  try {
    const code = await running.run(order, {
      onOutput: (text) => output.feed(text),
      onMessages: (text) => void (messages = (messages + text).slice(-MAX_MESSAGES_CHARACTERS))
    });
    if (code === GIT_IS_MISSING)
      throw new Error(`${order.program} is not installed on this server: install its package`);
    if (code !== 0) throw new GitError(subcommand(command), code, messages);
    return output.finish();
  } catch (error) {
    if (error instanceof TooMuchOutput)
      throw new GitError(subcommand(command), "too much output", error.message);
    throw error;
  }
}
const TOO_MUCH_MEMORY = `it takes git more than ${MAX_MEMORY_BYTES / 1024 ** 2} MiB of memory`;
const HARMLESS_FAULTS = [
  "badDate",
  "badEmail",
  "badName",
  "badTimezone",
  "missingEmail",
  "missingNameBeforeEmail",
  "missingSpaceBeforeDate",
  "missingSpaceBeforeEmail",
  "multipleAuthors",
  "zeroPaddedDate",
  "zeroPaddedFilemode"
];
const HARMLESS = [
  ["core.hooksPath", "/dev/null"],
  ["core.fsmonitor", "false"],
  ["core.symlinks", "true"],
  ["core.autocrlf", "false"],
  ["submodule.recurse", "false"],
  ["gc.auto", "0"],
  ["maintenance.auto", "false"],
  ["advice.detachedHead", "false"],
  ["init.defaultBranch", "main"],
  ["i18n.logOutputEncoding", "UTF-8"],
  // Larger files pass through piece by piece; smaller ones are held whole, a few by each thread.
  ["core.bigFileThreshold", "16m"],
  ["pack.threads", "2"],
  // Half of the objects of a tree are written by a process of their own where they are many.
  ["checkout.workers", "2"],
  // What comes is looked through as it comes, and stays one file, however little it is.
  ["fetch.unpackLimit", "1"],
  ["fetch.fsckObjects", "true"],
  // Addresses of submodules are judged before they are used.
  ["fetch.fsck.gitmodulesUrl", "ignore"],
  ...HARMLESS_FAULTS.map((fault) => [`fetch.fsck.${fault}`, "ignore"]),
  // A host that sends less than 1,000 bytes/s for a minute is given up.
  ["http.lowSpeedLimit", "1000"],
  ["http.lowSpeedTime", "60"]
].flatMap(([key, value]) => ["-c", `${key}=${value}`]);
const INHERITED = /^(PATH|TMPDIR|SSL_CERT_(FILE|DIR)|GIT_SSL_CAINFO)$/;
function baseEnvironment() {
  const inherited = Object.entries(process.env).filter(
    ([key, value]) => INHERITED.test(key) && value !== void 0
  );
  return {
    ...Object.fromEntries(inherited),
    // Messages are looked through, so they must be in English.
    LC_ALL: "C.UTF-8",
    // Versions before 2.32 do not know GIT_CONFIG_GLOBAL and look into the home.
    HOME: "/nonexistent",
    GIT_CONFIG_GLOBAL: "/dev/null",
    GIT_CONFIG_NOSYSTEM: "1",
    GIT_ATTR_NOSYSTEM: "1",
    GIT_TERMINAL_PROMPT: "0",
    GIT_ALLOW_PROTOCOL: "http:https:ssh:git",
    GIT_LFS_SKIP_SMUDGE: "1",
    GIT_ALLOC_LIMIT: String(MAX_PIECE_BYTES)
  };
}
function subcommand(command) {
  return command.arguments.find((argument) => /^[a-z][a-z-]*$/.test(argument)) ?? "";
}

class RemoteFault extends Error {
  name = "RemoteFault";
  /** `local` when it lies with this server alone, `unknown` when it may not lie with the remote. */
  kind;
  constructor(kind, message, cause) {
    super(message, { cause });
    this.kind = kind;
  }
}
const SSH_TIMEOUT_SECONDS = 15;
async function withRemote(access, signal, use) {
  const parsed = parseRepositoryUrl(access.url);
  if (!parsed) {
    const error = new GitError("", "no address", "is not a repository address");
    throw new RemoteFault("unreachable", "this is not a repository address: correct repo_url", error);
  }
  const { url, username, password } = splitCredentials(access.url);
  const desk = new CredentialDesk();
  const isWeb = parsed.protocol === "http" || parsed.protocol === "https";
  if (username !== null || password !== null) desk.add(new URL(url).origin, username, password);
  else if (isWeb && access.credentials)
    desk.add(access.credentials.place, access.credentials.username, access.credentials.password);
  const pass = await openPass(access.reach);
  const ssh = sshCommand(access);
  const environment = {
    GIT_SSH_VARIANT: "ssh",
    GIT_SSH_COMMAND: ssh.map(quoteForShell).join(" "),
    ...pass.environment
  };
  const work = async (git) => {
    const remote = {
      url,
      host: parsed.host,
      settings: [...ASK_DESK],
      environment,
      desk,
      pass,
      git,
      ssh: ({ host, port, username: username2 }, command) => git.run({
        program: "ssh",
        arguments: [
          ...ssh.slice(1),
          ...port === null ? [] : ["-p", String(port)],
          ...username2 === null ? [] : ["-l", username2],
          "--",
          host,
          command.map(quoteForShell).join(" ")
        ],
        environment
      })
    };
    try {
      remote.settings.push(...await admit(remote, parsed));
      return await use(remote);
    } catch (error) {
      throw error instanceof GitError ? explain(error, remote) : error;
    }
  };
  try {
    return await withGit(signal, work, desk);
  } finally {
    pass.close();
  }
}
async function admit({ pass }, { protocol, host, port }) {
  pass.allow(host);
  const place = [host, port ?? usualPort(protocol)];
  if (protocol === "git") {
    const address = await pass.resolve(...place).catch(refuse);
    if (address === host) return [];
    const after = port === null ? "" : `:${port}`;
    const bracketed = address.includes(":") ? `[${address}]` : address;
    return ["-c", `url.git://${bracketed}${after}/.insteadOf=git://${host}${after}/`];
  }
  const proxy = protocol === "ssh" ? null : outboundProxy(protocol);
  if (proxy === null) return [];
  await pass.judge(...place).catch(refuse);
  return isOfHttp(proxy) ? [] : ["-c", "http.followRedirects=false"];
}
function refuse(cause) {
  throw new GitError("connect", "no address", String(cause));
}
function sshCommand({ sshKeyFile, knownHostsFile }) {
  const dialer = [process.execPath, gitDialer()].map((path) => quoteForShell(path).replaceAll("%", "%%"));
  const options = [
    "IdentitiesOnly=yes",
    "IdentityAgent=none",
    "BatchMode=yes",
    "StrictHostKeyChecking=accept-new",
    `UserKnownHostsFile="${knownHostsFile}"`,
    "GlobalKnownHostsFile=/dev/null",
    "HashKnownHosts=no",
    "UpdateHostKeys=no",
    `ConnectTimeout=${SSH_TIMEOUT_SECONDS}`,
    `ServerAliveInterval=${SSH_TIMEOUT_SECONDS}`,
    "PermitLocalCommand=no",
    "ForwardAgent=no",
    "ClearAllForwardings=yes",
    `ProxyCommand=${dialer.join(" ")} %h %p`
  ];
  return ["ssh", "-F", "/dev/null", "-i", sshKeyFile, ...options.flatMap((option) => ["-o", option])];
}
function quoteForShell(word) {
  return `'${word.replaceAll("'", `'\\''`)}'`;
}
const REFUSALS = [
  [
    /Permission denied \(|Permission denied, please try again|Load key /,
    ({ url }) => `${url} refused the server's ssh key: add the public key that "deployer ssh-key" prints to the repository's deploy keys`
  ],
  [
    /Authentication failed|HTTP Basic: Access denied|returned error: 403|invalid credentials/i,
    ({ url }) => `${url} refused the credentials: correct the user name and the password or token in repo_url, or authorize its git connection again`
  ],
  [
    /could not read (Username|Password)|terminal prompts disabled|returned error: 401/,
    ({ url }) => `${url} does not exist or is private: check the address, or connect its account, put a user name and token into it, or use its ssh address`
  ]
];
const ABSENCES = [
  [
    /REMOTE HOST IDENTIFICATION HAS CHANGED|Host key verification failed/,
    ({ host }) => `the host key of ${host} is not the one that was pinned: if the change is right, remove the host's line from ssh/known_hosts in the data directory`
  ],
  [
    /repository .* not found|Repository not found|does not appear to be a git repository|not exported|returned error: 404|is this a git repository|Could not find repository|project you were looking for could not be found/i,
    ({ url }) => `${url} does not exist or this server may not read it: check the address and who may read it`
  ],
  [
    /Could not resolve host|Name or service not known|Temporary failure in name resolution|unable to look up/i,
    ({ host }) => `the host ${host} cannot be found: check the address and the server's name resolution`
  ],
  [
    /returned error: 30\d/,
    ({ url }) => `${url} leads to another address, which is not followed through a SOCKS proxy: give that address itself`
  ],
  [
    /certificate|SSL|TLS|gnutls/,
    ({ host }) => `the TLS certificate of ${host} is not trusted: add its authority to the server's certificates`
  ],
  [
    /Failed to connect|Couldn't connect|Connection (refused|timed out|reset|closed)|unable to connect|No route to host|Network is unreachable|Operation timed out|kex_exchange_identification|too slow|returned error: 5\d\d|unexpected disconnect|hung up unexpectedly|early EOF|Empty reply/i,
    ({ host }) => `the host ${host} cannot be reached or broke off: check the address and try again`
  ],
  [
    /transport '.*' not allowed/,
    ({ url }) => `${url} leads to a protocol that is not taken: use https, http, ssh or git`
  ]
];
function explain(error, remote) {
  const { fault } = remote.pass;
  if (fault?.kind === "refused")
    return new RemoteFault("unreachable", `${remote.url}: ${fault.message}`, error);
  if (fault) return new RemoteFault("unreachable", fault.message, error);
  const local = diskFault(error);
  if (local !== null) return new RemoteFault("local", local, error);
  const messageFrom = (faults) => faults.find(([pattern]) => pattern.test(error.messages))?.[1](remote);
  const refusal = messageFrom(REFUSALS);
  if (refusal !== void 0) return new RemoteFault("refused", refusal, error);
  const absence = messageFrom(ABSENCES);
  if (absence !== void 0) return new RemoteFault("unreachable", absence, error);
  return new RemoteFault("unknown", `${remote.url} cannot be read: ${lastWords(error)}`, error);
}
function lastWords(error) {
  const lines = error.messages.split("\n").map((line) => line.trim()).filter((line) => line !== "");
  return lines.findLast((line) => /^(fatal|error|remote|ERROR):/.test(line)) ?? lines.at(-1) ?? error.message;
}

const REMOVALS_AT_ONCE = 2;
const removals = new Slots(REMOVALS_AT_ONCE);
const log = logger("builds");
async function removeTree(directory) {
  if (!existsSync(directory)) return;
  await removals.run(() => withReader(void 0, (reader) => reader.ask(REMOVE_TREE, { directory })));
}
async function clearTree(directory) {
  await removeTree(directory).catch(
    (error) => log.warn("the files of a source are left", { directory, error: messageOf(error) })
  );
}

const SHA1_CHARACTERS = 40;
const SHA256_CHARACTERS = 64;
const OTHER_FORMAT = /mismatched algorithms|not support this repository's object format/;
const MAX_SETTINGS = 1e4;
const NOT_SET = 1;
const FETCHED = "refs/deployer/";
const OWN_HEAD = "ref: refs/heads/none\n";
const OWN_CONFIGS = {
  sha1: "[core]\n	repositoryformatversion = 0\n	bare = true\n",
  sha256: "[core]\n	repositoryformatversion = 1\n	bare = true\n[extensions]\n	objectformat = sha256\n"
};
class Repository {
  directory;
  remote;
  constructor(directory, remote) {
    this.directory = directory;
    this.remote = remote;
  }
  /** Makes it, in place of what is there, for a remote whose object ids have that many characters. */
  async make(idLength = SHA1_CHARACTERS) {
    await removeTree(this.directory);
    for (const folder of ["objects/pack", FETCHED])
      await mkdir(join(this.directory, folder), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    await writeFile(join(this.directory, "config"), OWN_CONFIGS[formatOfLength(idLength)]);
    await writeFile(join(this.directory, "HEAD"), OWN_HEAD);
  }
  /**
   * Fetches what a reference or an id names, without its history, and answers the ref that holds it. The remote is asked
   * with the credentials of now, also for what is here already. Throws GitError.
   */
  async fetchOne(reference, place) {
    const name = FETCHED + place;
    const fetch = () => this.fetch([`+${reference}:${name}`], ["--depth=1"]);
    await fetch().catch(async (error) => {
      if (!isOtherFormat(error)) throw error;
      await this.make(await this.takes(SHA1_CHARACTERS) ? SHA256_CHARACTERS : SHA1_CHARACTERS);
      await fetch();
    });
    return name;
  }
  /** Fetches from the remote, and nothing but what the references name. Throws GitError. */
  async fetch(references, options) {
    const always = ["--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head"];
    await this.git(["fetch", ...always, ...options, "--", this.remote.url, ...references]);
  }
  /** Whether ids of that many characters are ids here: git takes others for names. */
  async takes(idLength) {
    const config = await readFile(join(this.directory, "config"), "utf8");
    return config === OWN_CONFIGS[formatOfLength(idLength)];
  }
  /** Runs git in it and answers what it wrote, unless `onLine` takes that. Throws GitError. */
  git(command, onLine, end) {
    return runAt([`--git-dir=${this.directory}`], this.remote, command, onLine, end);
  }
  /**
   * What `git config` finds in a file of a commit, and nothing of this host's, one answer after another. Throws BuildFailure
   * for a file that it cannot read or in which too much is set, else GitError.
   */
  async settings(sha, file, question) {
    const found = [];
    const onAnswer = (answer) => {
      if (found.push(answer) > MAX_SETTINGS)
        throw new BuildFailure(`${file} has more than ${MAX_SETTINGS} settings: shorten it`);
    };
    const command = ["config", `--blob=${sha}:${file}`, "--no-includes", "--null", ...question];
    try {
      await this.git(command, onAnswer, "\0");
    } catch (error) {
      if (!(error instanceof GitError)) throw error;
      const line = /bad config .*line (\d+)/.exec(error.messages)?.[1];
      if (line !== void 0)
        throw new BuildFailure(`${file} cannot be read at its line ${line}: correct it`, { cause: error });
      if (error.code !== NOT_SET) throw error;
    }
    return found;
  }
  /** The commit that a name stands for here; null when it stands for none. */
  async resolve(name) {
    try {
      return (await this.git(["rev-parse", "--quiet", "--verify", `${name}^{commit}`])).trim();
    } catch (error) {
      if (error instanceof GitError) return null;
      throw error;
    }
  }
}
function isOtherFormat(error) {
  return error instanceof GitError && OTHER_FORMAT.test(error.messages);
}
function formatOfLength(idLength) {
  return idLength === SHA256_CHARACTERS ? "sha256" : "sha1";
}
function runAt(place, { git, settings, environment }, command, onLine, end = "\n") {
  const whole = { arguments: [...settings, ...place, ...command], environment };
  return git.run(onLine ? { ...whole, onOutputLine: { onLine, end } } : whole);
}

const LISTING_TIMEOUT_MS = 3e4;
async function listRefs(remote, patterns) {
  const output = await runAt([], remote, ["ls-remote", "--symref", "--", remote.url, ...patterns]);
  const refs = /* @__PURE__ */ new Map();
  let defaultBranch = null;
  for (const line of output.split("\n")) {
    const [object, name] = line.split("	");
    if (!object || !name) continue;
    const symbolic = /^ref: refs\/heads\/(.+)$/.exec(object);
    if (symbolic && name === "HEAD") defaultBranch = symbolic[1];
    else if (/^[0-9a-f]{40,64}$/.test(object)) refs.set(name, object);
  }
  return { refs, defaultBranch };
}
function branchNames({ refs }) {
  return [...refs.keys()].filter((name) => name.startsWith("refs/heads/")).map((name) => name.slice("refs/heads/".length));
}
async function lsRemote(access) {
  const timeout = AbortSignal.timeout(LISTING_TIMEOUT_MS);
  const signal = access.signal ? AbortSignal.any([access.signal, timeout]) : timeout;
  try {
    const refs = await withRemote(access, signal, (remote) => listRefs(remote, ["HEAD", "refs/heads/*"]));
    const branches = branchNames(refs);
    return {
      branches,
      default_branch: refs.defaultBranch !== null && branches.includes(refs.defaultBranch) ? refs.defaultBranch : null
    };
  } catch (cause) {
    if (timeout.aborted) {
      throw new AppError(
        "git_remote_unreachable",
        `the host ${parseRepositoryUrl(access.url)?.host} did not answer within ${LISTING_TIMEOUT_MS / 1e3} s: try again`,
        { cause }
      );
    }
    if (!(cause instanceof RemoteFault)) throw cause;
    const code = cause.kind === "refused" ? "git_authorization_rejected" : "git_remote_unreachable";
    throw new AppError(code, cause.message, { cause });
  }
}

function remoteAccess(url) {
  const { dataDirectory } = useContext().options;
  return {
    url,
    reach: ownReach(),
    sshKeyFile: join(dataDirectory, "ssh", "id_ed25519"),
    knownHostsFile: join(dataDirectory, "ssh", "known_hosts")
  };
}
function checkoutAccess(url, serving) {
  const { options, vault } = useContext();
  const { username, password } = splitCredentials(url);
  const isOwn = username !== null || password !== null;
  return {
    ...remoteAccess(url),
    credentials: serving?.credentials ?? null,
    mirrors: mirrorsFolder(options.dataDirectory),
    holder: isOwn ? vault.fingerprint(JSON.stringify([username, password])) : serving?.connection.id ?? ""
  };
}
function mirrorsFolder(dataDirectory) {
  return join(dataDirectory, "mirrors");
}
async function readBranches(url) {
  const { username, password } = splitCredentials(url);
  const serving = username === null && password === null ? await servingConnection(url) : null;
  const listed = await lsRemote({ ...remoteAccess(url), credentials: serving?.credentials ?? null });
  return { ...listed, connection_id: serving?.connection.id ?? null };
}

export { GitError as G, OWN_CONFIGS as O, PATH_TOO_LONG as P, RemoteFault as R, checkoutAccess as a, remoteAccess as b, clearTree as c, Repository as d, runAt as e, OWN_HEAD as f, lastWords as g, admit as h, isPathTooLong as i, isBelow as j, isOtherFormat as k, listRefs as l, mirrorsFolder as m, branchNames as n, outboundProxy as o, provideGitRunner as p, readBranches as q, removeTree as r, withRemote as w };
