import { join, dirname } from 'node:path';
import { setFlagsFromString } from 'node:v8';
import { A as AppError, L as LINGER_MS, a as LINGER_BYTES, m as messageOf, e as errorText, r as refuse, b as refusalOf, s as setUpLog, h as hide, c as ensureServerToken, w as writePrivateFile, l as logger, o as openDatabase, t as toNodeListener, d as ensureSetupCode, f as openVault, p as provideContext, u as useNitroApp } from '../nitro/nitro.mjs';
import { s as setCheckoutsAside, f as formatAddress, a as startDaemon, r as recordOrderlyStop } from './index.mjs';
import { e as ensureBaseDomain } from './operations.mjs';
import { e as ensureProduction } from './store.mjs';
import { e as exposedSecrets } from './dns-provider.mjs';
import { r as readOptions, s as secretsOf } from './options.mjs';
import { h as httpsListenerPort, a as httpListenerPort } from './public-address.mjs';
import { s as serverIdOf } from './server-id.mjs';
import { V as VERSION } from './version.mjs';
import { readdirSync, rmSync } from 'node:fs';
import { p as prepareDataDirectory } from './data-directory.mjs';
import { t as takeDataLock } from './data-lock.mjs';
import { once } from 'node:events';
import { IncomingMessage, createServer, STATUS_CODES } from 'node:http';
import { isIP } from 'node:net';
import { hostname } from 'node:os';
import { b as bareHost } from './bare-host.mjs';
import { a as asGet } from './head.mjs';
import 'node:https';
import 'node:buffer';
import 'node:crypto';
import 'node:util';
import 'zod';
import './reading-thread.mjs';
import './slots.mjs';
import './worker-thread.mjs';
import 'node:worker_threads';
import './run-each.mjs';
import 'node:stream';
import 'node:timers/promises';
import 'dockerode';
import './answer-of.mjs';
import 'node:fs/promises';
import 'node:http2';
import 'node:child_process';
import './synced.mjs';
import './changes.mjs';
import './same-repository.mjs';
import './url.mjs';
import './view.mjs';
import './states.mjs';
import './machine.mjs';
import './store2.mjs';
import './view2.mjs';
import './store3.mjs';
import './internal-port.mjs';
import './states2.mjs';
import './view3.mjs';
import './store4.mjs';
import './names.mjs';
import 'node:url';
import 'tldts';
import './hosts.mjs';
import './types.mjs';
import './store5.mjs';
import './operations2.mjs';
import './log-files.mjs';
import './qualified-name.mjs';
import './references.mjs';
import './rules.mjs';
import './store6.mjs';
import './kinds.mjs';
import './store7.mjs';
import './view4.mjs';
import './input.mjs';
import './addresses.mjs';
import './judged.mjs';
import 'node:dns';
import './operations3.mjs';
import './operations4.mjs';
import './claims.mjs';
import './referrers.mjs';
import './rules2.mjs';
import './written.mjs';
import './schema.mjs';
import './cron.mjs';
import './states3.mjs';
import './input2.mjs';
import './schema2.mjs';
import './schema3.mjs';
import './refs.mjs';
import './schema4.mjs';
import './query.mjs';
import './schema5.mjs';
import './schema6.mjs';
import './schema7.mjs';
import './watch-paths.mjs';
import './operations5.mjs';
import './operations6.mjs';
import './view5.mjs';
import './validate.mjs';
import './restart.mjs';
import 'node:dns/promises';
import './repository-file.mjs';
import './serving.mjs';
import 'universal-github-app-jwt';
import 'undici';
import './jobs.mjs';
import './branches.mjs';
import './size-watch.mjs';
import './instances.mjs';
import './hosts2.mjs';
import './limits.mjs';
import './records.mjs';
import './protocol.mjs';
import 'node:tls';
import './source-tree.mjs';
import './filter.mjs';
import 'node:stream/promises';
import 'node:zlib';
import 're2js';
import './settled.mjs';
import './operations7.mjs';
import 'aws4fetch';
import './states4.mjs';
import 'tar-stream';
import './operations8.mjs';
import 'node:stream/consumers';
import './archives.mjs';
import './authorize.mjs';
import './operations9.mjs';
import './schema8.mjs';
import './delivery.mjs';
import './operations10.mjs';
import './table.mjs';
import './latest.mjs';
import 'node:sqlite';
import './latency-buckets.mjs';
import './operations11.mjs';
import './drain.mjs';
import './client.mjs';
import './find.mjs';
import './greeting.mjs';
import './ssh-key2.mjs';

function openDataDirectory(path) {
  prepareDataDirectory(path);
  const lock = takeLock(path);
  removeLeftovers(path);
  return lock;
}
function takeLock(path) {
  const lock = takeDataLock(path);
  if (lock) return lock;
  throw new AppError(
    "io_error",
    `--data-dir ${path} is in use by another server: stop it, or name another directory`
  );
}
function removeLeftovers(path) {
  setCheckoutsAside(path);
  for (const name of readdirSync(join(path, "archives"))) {
    if (name.endsWith(".partial")) rmSync(join(path, "archives", name), { force: true });
  }
}

function admission(options) {
  const machine = hostname().toLowerCase();
  const names = /* @__PURE__ */ new Set(["localhost", machine, machine.split(".")[0], ...options.allowedHosts]);
  if (options.dashboardHost !== null) names.add(options.dashboardHost);
  return (request) => {
    toOriginForm(request);
    const { host } = request.headers;
    if (host === void 0 && request.httpVersion === "1.0") return;
    const name = request.headersDistinct.host?.length === 1 ? hostOf(host ?? "") : null;
    if (name === null)
      throw new AppError("invalid_request", "the request needs one Host, a name or an address");
    if (isAddress(name) || name.endsWith(".localhost") || names.has(name)) return;
    throw new AppError(
      "misdirected_request",
      `${name} is no name of this server: add it with --allowed-hosts`
    );
  };
}
function toOriginForm(request) {
  const { url = "" } = request;
  const absolute = /^https?:\/\/[^/?#]*/i.exec(url)?.[0];
  if (absolute === void 0) return;
  const rest = url.slice(absolute.length);
  request.headers.host = absolute.slice(absolute.indexOf("//") + 2);
  request.url = rest.startsWith("/") ? rest : `/${rest}`;
}
function hostOf(host) {
  if (/[/\\?#@\s]/.test(host)) return null;
  const name = URL.parse(`http://${host}`)?.hostname.replace(/\.$/, "");
  return name || null;
}
function isAddress(name) {
  return isIP(bareHost(name)) !== 0;
}

const MAX_CONNECTIONS = 4096;
const MAX_WAITING = 16;
class Connections {
  #limit;
  /** Without a request under way, longest idle first. */
  #idle = /* @__PURE__ */ new Set();
  /** The one whose request is oldest first. */
  #busy = /* @__PURE__ */ new Map();
  constructor(limit = MAX_CONNECTIONS) {
    this.#limit = limit;
  }
  /** Takes a new connection in. */
  opened(socket) {
    if (this.#idle.size + this.#busy.size >= this.#limit) this.#closeOne();
    this.#idle.add(socket);
    socket.once("close", () => {
      this.#idle.delete(socket);
      this.#busy.delete(socket);
    });
  }
  /**
   * Calls `handle` when it is a request's turn; not for one whose connection has ended, that is one too many, or that was
   * refused before it was whole: its refusal is its answer.
   */
  take(socket, response, handle) {
    if (socket.destroyed || socket.writableEnded) return;
    const busy = this.#busy.get(socket);
    if (!busy) this.#begin(socket, { response, waiting: [], refuse: null }, handle);
    else if (busy.refuse) return;
    else if (busy.waiting.length < MAX_WAITING) busy.waiting.push({ response, handle });
    else socket.destroy();
  }
  /**
   * What came is no request, or no body of one: calls `refuse` when nothing is left to be answered before, as it would be
   * taken for that answer; once, however much of the kind follows. What has begun to be answered, or was, before it was
   * whole is cut: a refusal behind it would be a second answer.
   */
  spoiled(socket, refuse) {
    const busy = this.#busy.get(socket);
    if (!busy) return refuse();
    if (busy.refuse) return;
    const { response, waiting } = busy;
    if (response.req.complete) {
      busy.waiting = waiting.filter(({ response: response2 }) => response2.req.complete);
      busy.refuse = refuse;
    } else if (response.headersSent) socket.destroy();
    else refuse();
  }
  #begin(socket, busy, handle) {
    this.#idle.delete(socket);
    this.#busy.delete(socket);
    this.#busy.set(socket, busy);
    const { response } = busy;
    response.prependOnceListener("finish", () => discard(response.req));
    response.once("close", () => this.#goOn(socket, busy));
    handle();
  }
  /** After an answer, with what comes behind its request. */
  #goOn(socket, busy) {
    if (this.#busy.get(socket) !== busy || socket.destroyed || socket.writableEnded) return;
    const { response, refuse } = busy;
    if (!response.req.complete) {
      const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref();
      response.req.once("end", () => {
        clearTimeout(timer);
        this.#goOn(socket, busy);
      });
      return;
    }
    const [next, ...waiting] = busy.waiting;
    if (next) return this.#begin(socket, { response: next.response, waiting, refuse }, next.handle);
    if (refuse) return refuse();
    this.#busy.delete(socket);
    this.#idle.add(socket);
  }
  #closeOne() {
    const [socket] = this.#idle.size > 0 ? this.#idle : this.#busy.keys();
    this.#idle.delete(socket);
    this.#busy.delete(socket);
    socket.destroy();
  }
}
function discard(request) {
  let bytes = 0;
  request.on("data", (piece) => {
    bytes += piece.length;
    if (bytes > LINGER_BYTES) request.destroy();
  });
  request.resume();
}

const JUDGED_PIECES = 512;
const LEAST_MEAN_BYTES = 32;
class Request extends IncomingMessage {
  #pieces = 0;
  #bytes = 0;
  push(piece) {
    if (this.destroyed) return true;
    if (piece !== null) {
      this.#pieces++;
      this.#bytes += piece.length;
      if (this.#pieces >= JUDGED_PIECES && this.#bytes < this.#pieces * LEAST_MEAN_BYTES) {
        this.destroy();
        return true;
      }
    }
    return super.push(piece);
  }
}

const HEAD_TIMEOUT_MS = 3e4;
const IDLE_TIMEOUT_MS = 65e3;
const CHECK_INTERVAL_MS = 5e3;
const FAREWELL_MS = 5e3;
const CLOSE_WITHIN_MS = 2e3;
function createHttpServer(options, handle, started) {
  const admit = admission(options);
  const connections = new Connections();
  const inTurn = (answer2) => {
    return (request, response) => connections.take(request.socket, response, () => {
      response.setHeader("x-content-type-options", "nosniff");
      if (request.headers.upgrade !== void 0) response.shouldKeepAlive = false;
      answer2(request, response);
    });
  };
  const answer = inTurn((request, response) => {
    try {
      admit(request);
    } catch (error) {
      if (!(error instanceof AppError)) throw error;
      return void refuse(request, response, refusalOf(error));
    }
    if (request.method === "HEAD") asGet(request);
    if (request.url === "/healthz") handle(request, response);
    else void started.then(() => handle(request, response));
  });
  const refuseExpectation = inTurn((request, response) => {
    const message = "of what a request may expect only 100-continue is known here";
    void refuse(request, response, { status: 417, code: "invalid_request", message });
  });
  return createServer({
    // Bodies and streams have limits of their own; a head has this one.
    requestTimeout: 0,
    headersTimeout: HEAD_TIMEOUT_MS,
    keepAliveTimeout: IDLE_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_INTERVAL_MS,
    // Admission says so in the API's words.
    requireHostHeader: false,
    IncomingMessage: Request
  }).on("connection", (socket) => connections.opened(socket)).on("request", answer).on("checkContinue", answer).on("checkExpectation", refuseExpectation).on(
    "clientError",
    ({ code, message }, socket) => connections.spoiled(socket, () => refuseUnread(code, message, socket))
  );
}
const STATUS_OF_FAULT = {
  HPE_HEADER_OVERFLOW: 431,
  HPE_CHUNK_EXTENSIONS_OVERFLOW: 413,
  ERR_HTTP_REQUEST_TIMEOUT: 408
};
function refuseUnread(fault, message, socket) {
  if (!socket.writable) return void socket.destroy();
  const status = STATUS_OF_FAULT[fault ?? ""] ?? 400;
  const text = errorText({
    code: "invalid_request",
    message: `${STATUS_CODES[status]}: ${message}`
  });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    "Connection: close",
    "Content-Type: application/json",
    `Content-Length: ${Buffer.byteLength(text)}`,
    "Cache-Control: no-store",
    "X-Content-Type-Options: nosniff"
  ];
  socket.end(`${head.join("\r\n")}\r
\r
${text}`);
  const timer = setTimeout(() => socket.destroy(), FAREWELL_MS);
  socket.once("close", () => clearTimeout(timer));
}
async function listen(server, address) {
  try {
    server.listen({ host: address.host, port: address.port });
    await once(server, "listening");
  } catch (cause) {
    const why = cause.code === "EADDRINUSE" ? "another program listens there" : messageOf(cause);
    throw new AppError(
      "io_error",
      `--listen ${formatAddress(address)}: ${why}; stop it or name another address`,
      { cause }
    );
  }
  return server.address().port;
}
async function closeServer(server) {
  const closed = once(server, "close");
  server.close();
  server.closeIdleConnections();
  const timer = setTimeout(() => server.closeAllConnections(), CLOSE_WITHIN_MS);
  await closed;
  clearTimeout(timer);
}

const log = logger("server");
const STOP_WITHIN_MS = 9e3;
async function serve(argv) {
  setFlagsFromString("--semi-space-growth-factor=1");
  const options = readOptions(argv);
  setUpLog(options.logLevel, options.logFormat);
  for (const secret of secretsOf(options)) hide(secret);
  for (const warning of exposedSecrets(argv)) log.warn(warning);
  const lock = openDataDirectory(options.dataDirectory);
  const stopping = new AbortController();
  const database = await usable(join(options.dataDirectory, "deployer.db"), openDatabase);
  const context = {
    options,
    database,
    vault: await usable(join(options.dataDirectory, "secret.key"), openVault),
    serverId: serverIdOf(database),
    version: VERSION,
    stopping: stopping.signal
  };
  provideContext(context);
  ensureProduction();
  ensureBaseDomain();
  ensureServerToken(context);
  const started = Promise.withResolvers();
  const handle = toNodeListener(useNitroApp().h3App);
  const server = createHttpServer(options, handle, started.promise);
  const port = await listen(server, options.listen);
  const url = `http://${formatAddress({ host: options.listen.host, port })}`;
  log.info(`API and dashboard at ${url}`);
  const daemon = await startDaemon({
    apiUrl: url,
    apiPort: port,
    proxyProgram: join(dirname(process.argv[1]), "proxy.mjs"),
    readerProgram: join(dirname(process.argv[1]), "source-reader.mjs"),
    gitProgram: join(dirname(process.argv[1]), "git-runner.mjs"),
    searchProgram: join(dirname(process.argv[1]), "log-search.mjs"),
    blueprintProgram: join(dirname(process.argv[1]), "blueprint-reader.mjs")
  });
  started.resolve();
  const httpsPort = options.tls === "off" ? null : httpsListenerPort();
  log.info(
    `services at port ${httpListenerPort()} (HTTP)${httpsPort === null ? "" : ` and ${httpsPort} (HTTPS)`}`
  );
  announceSetup(context, url, port);
  writePrivateFile(
    join(options.dataDirectory, "server.json"),
    JSON.stringify({
      pid: process.pid,
      url,
      http_url: `http://${formatAddress({ ...options.httpListen, port: httpListenerPort() })}`,
      https_url: httpsPort === null ? null : `https://${formatAddress({ ...options.httpsListen, port: httpsPort })}`
    })
  );
  let ending = false;
  const stop = async (code) => {
    if (ending) return;
    ending = true;
    setTimeout(() => process.exit(code || 1), STOP_WITHIN_MS).unref();
    if (code === 0) recordOrderlyStop();
    stopping.abort();
    await closeServer(server);
    await daemon.stop();
    await database.close();
    lock.release();
    process.exit(code);
  };
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(signal, () => void stop(0));
  process.on("uncaughtException", (error) => {
    log.error("a fault of the server itself; it ends", { error: String(error.stack ?? error) });
    void stop(1);
  });
}
async function usable(file, open) {
  try {
    return await open(file);
  } catch (cause) {
    if (cause instanceof AppError) throw cause;
    throw new AppError("io_error", `${file} cannot be used: ${messageOf(cause)}. Restore it from a backup.`, {
      cause
    });
  }
}
function announceSetup(context, url, port) {
  const code = ensureSetupCode(context);
  if (code === null) return;
  process.stdout.write(`
Set up the administrator account: ${url}/setup?code=${code}
`);
  if (process.env.SSH_CONNECTION) {
    const [, , address] = process.env.SSH_CONNECTION.split(" ");
    process.stdout.write(
      `From your own machine, first: ssh -L ${port}:127.0.0.1:${port} ${process.env.USER ?? "root"}@${address}
`
    );
  }
  process.stdout.write("\n");
}

export { serve };
