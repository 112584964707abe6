import { J as useContext, E as useDatabase, A as AppError, m as messageOf, l as logger, I as timestamp } from '../nitro/nitro.mjs';
import { Readable, PassThrough, finished } from 'node:stream';
import { setTimeout as setTimeout$1 } from 'node:timers/promises';
import Docker from 'dockerode';
import { existsSync, writeFileSync, mkdirSync, readFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { inspect } from 'node:util';
import { f as failWithAnswer } from './answer-of.mjs';
import { cpus, homedir } from 'node:os';
import { readFile } from 'node:fs/promises';
import { randomUUID } from 'node:crypto';
import { performServerHandshake } from 'node:http2';
import { execFile } from 'node:child_process';
import { join } from 'node:path';

function ledgerOf(database, vault) {
  return {
    record(kind, name, engineId = null) {
      database().run(
        `INSERT INTO engine_things (kind, name, engine_id) VALUES (?1, ?2, ?3)
         ON CONFLICT (kind, name) DO UPDATE SET engine_id = ?3`,
        kind,
        name,
        engineId
      );
    },
    find(kind, name) {
      return database().get(
        "SELECT name, engine_id FROM engine_things WHERE kind = ? AND name = ?",
        kind,
        name
      );
    },
    list(kind) {
      return database().all(
        "SELECT name, engine_id FROM engine_things WHERE kind = ? ORDER BY name",
        kind
      );
    },
    waiting(kind) {
      const sql = "SELECT name FROM engine_things WHERE kind = ? AND engine_id IS NULL";
      return database().all(sql, kind).map(({ name }) => name);
    },
    countWaiting(kind) {
      const sql = "SELECT count(*) AS count FROM engine_things WHERE kind = ? AND engine_id IS NULL";
      return database().get(sql, kind).count;
    },
    forget(kind, name) {
      database().run("DELETE FROM engine_things WHERE kind = ? AND name = ?", kind, name);
    },
    atOnce(work) {
      database().transaction(work);
    },
    seal(text) {
      return Buffer.from(vault().seal(text)).toString("base64");
    },
    open(sealed) {
      return vault().open(Buffer.from(sealed, "base64"));
    }
  };
}
const ledger = ledgerOf(useDatabase, () => useContext().vault);

const SUBNET_TAKEN = /Pool overlaps with other one|networks have overlapping|subnet \S+ is (?:already used|being used)/;
const EXPLANATIONS = [
  [
    /no basic auth credentials|authentication required|401 Unauthorized|no active sessions|failed to authorize|insufficient_scope/i,
    "the registry asks for credentials or refuses them: run docker login for it as the user that runs the server"
  ],
  [
    /pull access denied for (\S+?),/,
    ([, name]) => `there is no image ${name}, or it is private: correct the name, or run docker login as the user that runs the server`
  ],
  [
    /manifest unknown|manifest for (\S+) not found|name unknown|repository name not known|404 Not Found/i,
    "the registry has no such image or tag"
  ],
  [
    /no matching manifest for (\S+)/,
    ([, platform]) => `the image is not published for this host's platform (${platform})`
  ],
  [
    /toomanyrequests|pull rate limit/i,
    "the registry allows no more pulls for now: wait, or run docker login for it"
  ],
  [
    /lookup ([^\s:]+)(?: on \S+)?: (?:.*: )?(no such host|server misbehaving|Temporary failure[^:]*|i\/o timeout)/,
    ([, host, why]) => `the registry's name ${host} cannot be looked up (${why})`
  ],
  [
    /dial tcp \S+: (?:connect: )?(connection refused|no route to host|network is unreachable|i\/o timeout)/,
    ([, why]) => `the registry cannot be reached (${why})`
  ],
  [/no space left on device/i, "the disk is full: free some space"],
  [SUBNET_TAKEN, "its addresses are taken by another network"],
  [
    /exec: "([^"]+)": (?:stat [^:]+: )?(?:executable file not found in \$PATH|no such file or directory)/,
    ([, program]) => `the image has no program ${program}: correct the start command`
  ],
  [
    /exec: "([^"]+)": (?:stat [^:]+: )?permission denied/,
    ([, program]) => `${program} is not executable: chmod +x it, or start it through its interpreter`
  ],
  [
    /exec (\S+): exec format error|exec format error/,
    "the program is for another kind of processor, or a script without its first line (#!)"
  ],
  [/No command specified/, "the image names no command: set a start command"],
  [/No such image: (\S+)/, ([, image]) => `the image ${image} is not on this host: deploy again`]
];
function explain(message) {
  for (const [pattern, meaning] of EXPLANATIONS) {
    const match = pattern.exec(message);
    if (match) return typeof meaning === "string" ? meaning : meaning(match);
  }
  return message.trim();
}
function engineMessage(error) {
  const said = error.json;
  if (said && typeof said.message === "string") return said.message;
  return messageOf(error).replace(/^\(HTTP code \d+\) [^-]*- /, "").trim();
}
function isSubnetTaken(error) {
  return error instanceof AppError && SUBNET_TAKEN.test(engineMessage(error.cause));
}
function statusOf(error) {
  const status = error.statusCode;
  return typeof status === "number" ? status : null;
}
const noEngine = (socketPath) => `no container engine answers at ${socketPath}: start it, or name its socket with --docker-host`;
const engineLeft = (_, doing) => `${doing}: the container engine went away`;
const FAULTS = {
  ENOENT: noEngine,
  ECONNREFUSED: noEngine,
  EACCES: (socketPath) => `the engine's socket ${socketPath} may not be used by this user: run the server as root, or add the user to the group docker`,
  ECONNRESET: engineLeft,
  EPIPE: engineLeft
};
class EngineAway extends AppError {
  constructor(message, cause) {
    super("runtime_error", message, { cause });
  }
}
function isEngineAway(error) {
  return error instanceof EngineAway;
}
function engineFault(doing, socketPath, error) {
  if (error instanceof AppError) return error;
  const known = FAULTS[error.code ?? ""];
  if (known) return new EngineAway(known(socketPath, doing), error);
  const isLate = error instanceof Error && error.name === "TimeoutError";
  const reason = isLate ? "the container engine did not answer in time" : explain(engineMessage(error));
  return new AppError("runtime_error", `${doing}: ${reason}`, { cause: error });
}

const PREFIX = "deployer.";
const SERVER_LABEL = `${PREFIX}server`;
const IMAGE_SERVER_LABEL = "deployer-image.server";
function ownLabels(serverId, labels = {}) {
  return { ...labels, [SERVER_LABEL]: serverId };
}
function imageLabels(serverId, labels = {}) {
  return { ...labels, [IMAGE_SERVER_LABEL]: serverId };
}
function withoutClaims(ofImage) {
  const claims = Object.keys(ofImage).filter((key) => key.startsWith(PREFIX));
  return Object.fromEntries(claims.map((key) => [key, ""]));
}
function isLabelled(serverId, labels) {
  return labels?.[SERVER_LABEL] === serverId;
}
function labelFilter(serverId, labels = {}) {
  return Object.entries(ownLabels(serverId, labels)).map(([key, value]) => `${key}=${value}`);
}

const log$1 = logger("engine");
const OPEN_FILES = [65536, 16384];
const QUOTA = { size: "10G" };
const EMPTY_TAR = Buffer.alloc(1024);
const MEMORY_BYTES = 16 * 1024 ** 2;
const REFUSALS = [400, 500];
function trialImage(serverId) {
  return `deployer-${serverId}/empty:trial`;
}
class AbilityTrial {
  #connection;
  #serverId;
  #ledger;
  #found = null;
  constructor(connection, serverId, ledger) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
  }
  /**
   * What the engine gives. Throws `runtime_error` when that cannot be found out now, and tries again when it is asked
   * again: nothing runs without its limits for an error that passes.
   */
  known() {
    this.#found ??= this.#find().catch((error) => {
      this.#found = null;
      throw error;
    });
    return this.#found;
  }
  async #find() {
    const image = trialImage(this.#serverId);
    const name = `deployer-trial-${this.#serverId}`;
    await this.#removeContainer(name);
    await this.#removeImage(image);
    try {
      this.#ledger.record("image", image);
      const [repo, tag] = image.split(":");
      await this.#connection.call("making an empty image", async (docker) => {
        const answer = await docker.importImage(Readable.from([EMPTY_TAR]), { repo, tag });
        for await (const _ of answer) ;
      });
      const quota = await this.#tries(name, image, { StorageOpt: QUOTA });
      for (const openFiles of OPEN_FILES) {
        if (await this.#tries(name, image, { Ulimits: ulimitsOf(openFiles) }))
          return told({ openFiles, quota });
      }
      return told({ openFiles: null, quota });
    } finally {
      await this.#removeImage(image);
    }
  }
  /** Whether a container with these settings starts. */
  async #tries(name, image, settings) {
    this.#ledger.record("container", name);
    try {
      return await this.#connection.call("trying what the engine gives", async (docker, abortSignal) => {
        try {
          const container = await docker.createContainer({
            name,
            Image: image,
            Labels: ownLabels(this.#serverId, { "deployer.kind": "trial" }),
            Entrypoint: ["/nothing"],
            HostConfig: { Init: true, NetworkMode: "none", Memory: MEMORY_BYTES, ...settings },
            abortSignal
          });
          await container.start({ abortSignal });
          return true;
        } catch (error) {
          if (!REFUSALS.includes(statusOf(error) ?? 0)) throw error;
          log$1.debug("the engine does not give this", { settings, error: engineMessage(error) });
          return false;
        }
      });
    } finally {
      await this.#removeContainer(name);
    }
  }
  async #removeContainer(name) {
    if (!this.#ledger.find("container", name)) return;
    await this.#connection.find(
      "removing a trial",
      (docker, abortSignal) => docker.getContainer(name).remove({ force: true, abortSignal })
    );
    this.#ledger.forget("container", name);
  }
  async #removeImage(image) {
    if (!this.#ledger.find("image", image)) return;
    await this.#connection.find(
      "removing an empty image",
      (docker, abortSignal) => docker.getImage(image).remove({ abortSignal })
    );
    this.#ledger.forget("image", image);
  }
}
function ulimitsOf(openFiles) {
  return openFiles === null ? void 0 : [{ Name: "nofile", Soft: openFiles, Hard: openFiles }];
}
function told(abilities) {
  log$1.info("what the engine gives to containers", {
    open_files: abilities.openFiles ?? "the engine's own limit",
    quota: abilities.quota ? QUOTA.size : "none: its storage driver has no quotas"
  });
  return abilities;
}

const MOMENT_SLACK_MS = 1;
const AT_BEGIN = /^cached mount /;
const BEGIN_MS = 5e3;
const FROM_EXEC = / from exec (\/bin\/sh -c )?([^]*)$/;
const VARIABLE = /\$(?:(\w+)|\{(\w+)\})/g;
const FILE_STEP = /^\[[^\]]*\] (?:COPY|ADD|WORKDIR) /;
function madeBy(step, all) {
  const endMs = step.completedMs ?? step.startedMs + BEGIN_MS;
  const during = all.filter(({ CreatedAt, Description }) => {
    const madeMs = Date.parse(CreatedAt);
    const isWithin = madeMs >= step.startedMs - MOMENT_SLACK_MS && madeMs <= endMs + MOMENT_SLACK_MS;
    return isWithin && (step.completedMs !== null || AT_BEGIN.test(Description));
  });
  const asWritten = during.filter(({ Description }) => isOfStep(Description, step.name));
  const made = asWritten.length > 0 ? asWritten : during.filter((record) => isExpanded(record, step));
  const byDescription = Map.groupBy(made, ({ Description }) => Description);
  if (asWritten.length === 0 && byDescription.size > 1) return [];
  return [...byDescription.values()].flatMap((alike) => alike.length === 1 ? alike : []);
}
function leavesAtOnce({ name }) {
  return cacheMountsOf(name).length > 0;
}
function isExpanded({ Description }, { name, buildArgs, hasFailed }) {
  const [, shell, command = ""] = FROM_EXEC.exec(Description) ?? [];
  if (hasFailed || shell === void 0 || !Description.startsWith("mount / ")) return false;
  const expanded = expandedBy(command, buildArgs);
  return expanded !== command && expanded === commandOf(name);
}
function expandedBy(command, values) {
  return command.replaceAll(VARIABLE, (variable, plain, braced) => {
    const name = plain ?? braced ?? "";
    return Object.hasOwn(values, name) ? values[name] : variable;
  });
}
function isOfStep(description, step) {
  if (step.startsWith("[internal] load")) return /^(?:http url |local source for )/.test(description);
  const folder = /^cached mount (\S+) from exec /.exec(description)?.[1];
  if (folder !== void 0 && !sharesFolder(step, folder)) return false;
  const command = FROM_EXEC.exec(description)?.[2];
  if (command !== void 0) return command === commandOf(step);
  return description === step || description === "fileop target" && FILE_STEP.test(step);
}
function sharesFolder(step, folder) {
  const keys = ["target", "dst", "destination"];
  return cacheMountsOf(step).some((mount) => keys.some((key) => mount.includes(`${key}=${folder}`)));
}
function cacheMountsOf(step) {
  return [...step.matchAll(/--mount=(\S+)/g)].map(([, mount]) => mount.split(",")).filter((settings) => settings.includes("type=cache"));
}
function commandOf(step) {
  let command = /^\[[^\]]*\] RUN ([^]*)$/.exec(step)?.[1];
  for (let flag; flag = /^--\S+\s+/.exec(command ?? ""); ) command = command.slice(flag[0].length);
  return command;
}

function socketOf(dockerHost) {
  if (dockerHost !== void 0 && dockerHost !== "") {
    const path = dockerHost.startsWith("unix://") ? dockerHost.slice("unix://".length) : dockerHost;
    if (path.startsWith("/")) return path;
    throw new AppError(
      "invalid_request",
      `the container engine ${dockerHost} is not on this host: name a socket such as unix:///var/run/docker.sock with --docker-host or DOCKER_HOST`
    );
  }
  const candidates = usualSockets();
  return candidates.find((path) => existsSync(path)) ?? candidates[0];
}
function usualSockets() {
  const runtime = process.env.XDG_RUNTIME_DIR;
  const system = ["/var/run/docker.sock", "/run/podman/podman.sock"];
  return process.getuid?.() === 0 || !runtime ? system : [`${runtime}/docker.sock`, ...system, `${runtime}/podman/podman.sock`];
}

const { addRequest } = Agent.prototype;
class TerseAgent extends Agent {
  addRequest(request, options) {
    failWithAnswer(request);
    addRequest.call(this, request, options);
  }
  [inspect.custom]() {
    return "Agent";
  }
}

const CALL_TIMEOUT_MS = 12e4;
const NEWEST_API = "1.51";
const OLDEST_API = "1.40";
const SERVER_ERROR = 500;
class Connection {
  socketPath;
  #docker;
  #version = null;
  constructor(dockerHost) {
    this.socketPath = socketOf(dockerHost);
    const agent = new TerseAgent({ keepAlive: false });
    const options = { socketPath: this.socketPath, host: void 0, protocol: "http", agent };
    this.#docker = new Docker(options);
  }
  /** The engine's version, asked for anew. Throws `runtime_error` when it does not answer in `timeoutMs`. */
  async meet(timeoutMs) {
    this.#version = null;
    return this.#agree(timeoutMs);
  }
  /** Whether the engine answers within `timeoutMs`, asked without the programs that it runs to tell its version. */
  async answers(timeoutMs) {
    try {
      await withDeadline(
        timeoutMs,
        void 0,
        (abortSignal) => this.#dial(this.#docker, { method: "GET", path: "/_ping", abortSignal })
      );
      return true;
    } catch (error) {
      return (statusOf(error) ?? SERVER_ERROR) < SERVER_ERROR;
    }
  }
  /**
   * Makes one call. `doing` says what for, as the beginning of an error message. A stream that comes back is under the
   * caller's signal, the deadline is for its beginning only. Throws `runtime_error`, or the reason of the caller's signal.
   */
  async call(doing, work, { signal, timeoutMs = CALL_TIMEOUT_MS } = {}) {
    signal?.throwIfAborted();
    try {
      return await withDeadline(timeoutMs, signal, async (limited) => {
        await this.#agree(CALL_TIMEOUT_MS);
        limited.throwIfAborted();
        return work(this.#docker, limited);
      });
    } catch (error) {
      signal?.throwIfAborted();
      throw engineFault(doing, this.socketPath, error);
    }
  }
  /** Like `call`, null when the engine says that there is no such thing. */
  async find(doing, work, options = {}) {
    const tolerant = async (docker, signal) => {
      try {
        return await work(docker, signal);
      } catch (error) {
        if (statusOf(error) === 404) return null;
        throw error;
      }
    };
    return this.call(doing, tolerant, options);
  }
  /** Sends a raw request and returns the JSON of its answer. */
  dial(doing, { method, path, query, signal, timeoutMs }) {
    return this.call(
      doing,
      (docker, abortSignal) => this.#dial(docker, { method, path, options: query, abortSignal }),
      { signal, timeoutMs }
    );
  }
  /** Sends a raw request and returns its answer's body as it comes, under the caller's signal. */
  stream(doing, { method, path, query, signal }) {
    return this.call(
      doing,
      async (docker, abortSignal) => await this.#dial(docker, { method, path, options: query, isStream: true, abortSignal }),
      { signal }
    );
  }
  /** Sends a request that becomes a connection of another protocol; null when the engine does not know it. */
  async upgrade(doing, { method, path, headers, signal }) {
    return this.call(
      doing,
      async (docker, abortSignal) => {
        try {
          return await this.#dial(docker, { method, path, headers, hijack: true, abortSignal });
        } catch (error) {
          if (statusOf(error) !== null) return null;
          throw error;
        }
      },
      { signal }
    );
  }
  /** The version that was agreed upon, asked for when it was not yet. */
  known() {
    return this.#agree(CALL_TIMEOUT_MS);
  }
  #agree(timeoutMs) {
    this.#version ??= this.#negotiate(timeoutMs).catch((error) => {
      this.#version = null;
      throw engineFault("asking the engine for its version", this.socketPath, error);
    });
    return this.#version;
  }
  async #negotiate(timeoutMs) {
    const modem = this.#docker.modem;
    delete modem.version;
    const answer = await withDeadline(
      timeoutMs,
      void 0,
      (abortSignal) => this.#dial(this.#docker, { method: "GET", path: "/version", abortSignal })
    );
    const newest = minorOf(answer.ApiVersion);
    if (newest < minorOf(OLDEST_API)) {
      throw new AppError(
        "runtime_error",
        `the container engine ${answer.Version} is too old: Docker 20.10 or newer is needed`
      );
    }
    const chosen = Math.max(
      Math.min(newest, minorOf(NEWEST_API)),
      minorOf(answer.MinAPIVersion ?? OLDEST_API)
    );
    const apiVersion = `1.${chosen}`;
    modem.version = `v${apiVersion}`;
    const isPodman = answer.Components?.some(({ Name }) => Name.startsWith("Podman")) ?? false;
    return { version: answer.Version, apiVersion, name: isPodman ? "podman" : "docker" };
  }
  #dial(docker, options) {
    const statusCodes = { 101: true, 200: true, 201: true, 204: true };
    return new Promise((resolve, reject) => {
      docker.modem.dial({ ...options, statusCodes }, (error, data) => {
        if (error) reject(asError(error));
        else resolve(data);
      });
    });
  }
}
async function withDeadline(timeoutMs, signal, work) {
  const late = new AbortController();
  const timer = setTimeout(() => late.abort(new DOMException("no answer in time", "TimeoutError")), timeoutMs);
  const limited = signal ? AbortSignal.any([signal, late.signal]) : late.signal;
  try {
    return await new Promise((resolve, reject) => {
      limited.addEventListener("abort", () => reject(asError(limited.reason)), { once: true });
      work(limited).then(resolve, reject);
    });
  } catch (error) {
    throw late.signal.aborted ? late.signal.reason : error;
  } finally {
    clearTimeout(timer);
  }
}
function asError(reason) {
  return reason instanceof Error ? reason : new Error(String(reason));
}
function minorOf(version) {
  return Number(version.split(".")[1]);
}

const log = logger("engine");
const PRUNE_TIMEOUT_MS = 6e5;
const TYPE_MINOR = 42;
const BUSY = /disk usage operation is already running/;
const BUSY_RETRY_MS = 500;
const CLAIM_AFTER_MS = 1e4;
const BUSY_MS = 12e4;
const PRUNED_AT_ONCE = 100;
const MAX_NOTES = 1e4;
const LOOK_AGAIN_MS = 36e5;
class BuildCache {
  #connection;
  #ledger;
  #timer;
  #looking = null;
  /** In how much it was seen to fit since the last build. */
  #fit = null;
  constructor(connection, ledger) {
    this.#connection = connection;
    this.#ledger = ledger;
  }
  /**
   * Writes down a step that a build of this server begins or has carried out, for when the engine is asked what the step
   * left: the build or the server may be broken off in between. It is sealed, as the names of steps hold the values of
   * build arguments.
   */
  note(step) {
    if (step.completedMs === null && !leavesAtOnce(step)) return;
    this.#fit = null;
    try {
      if (this.#ledger.countWaiting("build_cache") >= MAX_NOTES) return;
      this.#ledger.record("build_cache", this.#ledger.seal(JSON.stringify(step)));
    } catch (error) {
      log.warn("what a build leaves in the build cache will not be known", { error: messageOf(error) });
    }
  }
  /** Has what the noted steps left recorded, a little later. What is never recorded is left alone. */
  claim() {
    if (this.#ledger.countWaiting("build_cache") === 0) return;
    const claim = () => {
      this.#timer = void 0;
      this.#look().catch(
        (error) => log.warn("what builds left in the build cache is not known yet", { error: messageOf(error) })
      );
    };
    this.#timer ??= setTimeout(claim, CLAIM_AFTER_MS).unref();
  }
  /**
   * Shrinks what is recorded to about `maxBytes`, least recently used first. What was seen to fit is looked at again after
   * a build, or an hour: the look takes the engine long. Throws `runtime_error`.
   */
  async shrink(maxBytes) {
    if (this.#ledger.list("build_cache").length === 0 || this.#isKnownToFit(maxBytes)) return;
    if (await this.#isAbsent()) return;
    const records = await this.#look();
    const known = new Map(records.map((record) => [record.ID, record]));
    const recorded = this.#ledger.list("build_cache").filter(({ engine_id }) => engine_id !== null);
    for (const { name } of recorded) if (!known.has(name)) this.#ledger.forget("build_cache", name);
    const own = recorded.flatMap(({ name }) => known.get(name) ?? []).filter(({ InUse, Shared }) => !InUse && !Shared);
    const surplus = chooseSurplus(own, records, maxBytes);
    if (surplus.length === 0 && this.#ledger.countWaiting("build_cache") === 0)
      this.#fit = { maxBytes, untilMs: performance.now() + LOOK_AGAIN_MS };
    for (let from = 0; from < surplus.length; from += PRUNED_AT_ONCE) {
      const ids = surplus.slice(from, from + PRUNED_AT_ONCE);
      const query = { filters: JSON.stringify({ id: [`^(${ids.join("|")})$`] }) };
      await this.#connection.dial("shrinking the build cache", {
        method: "POST",
        path: "/build/prune?",
        query,
        timeoutMs: PRUNE_TIMEOUT_MS
      });
    }
  }
  #isKnownToFit(maxBytes) {
    return this.#fit !== null && this.#fit.maxBytes <= maxBytes && performance.now() < this.#fit.untilMs;
  }
  /** Everything that is in the cache; what builds have left there since the last look is recorded. Many share one look. */
  #look() {
    this.#looking ??= this.#lookAnew().finally(() => this.#looking = null);
    return this.#looking;
  }
  async #lookAnew() {
    clearTimeout(this.#timer);
    this.#timer = void 0;
    const notes = this.#ledger.waiting("build_cache");
    const records = await this.#read();
    const made = notes.flatMap((note) => this.#madeBy(note, records));
    this.#ledger.atOnce(() => {
      for (const { ID } of made) this.#ledger.record("build_cache", ID, ID);
      for (const note of notes) this.#ledger.forget("build_cache", note);
    });
    return records;
  }
  #madeBy(note, records) {
    try {
      return madeBy(JSON.parse(this.#ledger.open(note)), records);
    } catch (error) {
      log.warn("what a build left in the build cache is not known: its note cannot be read", {
        error: messageOf(error)
      });
      return [];
    }
  }
  /** Podman keeps a build's layers as images. */
  async #isAbsent() {
    return (await this.#connection.known()).name === "podman";
  }
  async #read() {
    const { apiVersion } = await this.#connection.known();
    const path = minorOf(apiVersion) < TYPE_MINOR ? "/system/df" : "/system/df?type=build-cache";
    const until = performance.now() + BUSY_MS;
    for (; ; ) {
      try {
        const answer = await this.#connection.dial("looking at the build cache", { method: "GET", path });
        return answer.BuildCache ?? [];
      } catch (error) {
        if (!BUSY.test(messageOf(error)) || performance.now() > until) throw error;
        await setTimeout$1(BUSY_RETRY_MS);
      }
    }
  }
}
function chooseSurplus(own, all, maxBytes) {
  let bytes = own.reduce((sum, { Size }) => sum + Size, 0);
  const children = /* @__PURE__ */ new Map();
  const parentsOf = ({ Parent, Parents }) => Parents ?? (Parent ? [Parent] : []);
  for (const record of all)
    for (const parent of parentsOf(record)) children.set(parent, (children.get(parent) ?? 0) + 1);
  const usedAt = ({ LastUsedAt, CreatedAt }) => Date.parse(LastUsedAt ?? CreatedAt);
  const left = own.toSorted((one, other) => usedAt(one) - usedAt(other));
  const surplus = [];
  while (bytes > maxBytes) {
    const at = left.findIndex(({ ID }) => (children.get(ID) ?? 0) === 0);
    if (at === -1) break;
    const [record] = left.splice(at, 1);
    for (const parent of parentsOf(record)) children.set(parent, children.get(parent) - 1);
    surplus.push(record.ID);
    bytes -= record.Size;
  }
  return surplus;
}

const HEADER_BYTES$1 = 8;
const STDERR = 2;
const KEPT_ERROR_BYTES = 4 * 1024;
class Attachment {
  #socket;
  #errors = Buffer.alloc(0);
  constructor(socket) {
    this.#socket = socket;
    socket.on("error", () => {
    });
  }
  /** The end of what the program printed on standard error so far. */
  get errors() {
    return this.#errors.toString("utf8").trim();
  }
  /** What the program prints on standard output, until it ends. */
  async *output() {
    let header = Buffer.alloc(0);
    let stream = 0;
    let left = 0;
    for await (const chunk of this.#socket) {
      let rest = chunk;
      while (rest.length > 0) {
        if (left === 0) {
          const missing = HEADER_BYTES$1 - header.length;
          header = Buffer.concat([header, rest.subarray(0, missing)]);
          rest = rest.subarray(missing);
          if (header.length < HEADER_BYTES$1) break;
          stream = header[0];
          left = header.readUInt32BE(4);
          header = Buffer.alloc(0);
          continue;
        }
        const payload = rest.subarray(0, left);
        rest = rest.subarray(left);
        left -= payload.length;
        if (stream === STDERR) this.#keep(payload);
        else yield payload;
      }
    }
  }
  /** Writes the program's standard input and ends it; no further once the program is gone. Throws what reading `source` throws. */
  async input(source) {
    for await (const chunk of source) {
      if (this.#socket.destroyed) return;
      if (!this.#socket.write(chunk)) await drainedOrClosed(this.#socket);
    }
    this.#socket.end();
  }
  /** Lets go of the program. */
  close() {
    this.#socket.destroy();
  }
  #keep(payload) {
    const all = Buffer.concat([this.#errors, payload]);
    this.#errors = all.subarray(Math.max(0, all.length - KEPT_ERROR_BYTES));
  }
}
function drainedOrClosed(socket) {
  return new Promise((resolve) => {
    const done = () => {
      socket.off("drain", done);
      socket.off("close", done);
      resolve();
    };
    socket.on("drain", done);
    socket.on("close", done);
    if (socket.destroyed) done();
  });
}
function takeOver(socketPath, path, signal) {
  return new Promise((resolve, reject) => {
    const outgoing = request({
      socketPath,
      path,
      method: "POST",
      headers: { host: "engine", connection: "Upgrade", upgrade: "tcp", "content-length": "0" },
      signal
    });
    outgoing.on("error", reject);
    outgoing.on("upgrade", (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve(socket);
    });
    outgoing.on("response", (response) => {
      response.resume();
      const statusCode = response.statusCode ?? 0;
      reject(Object.assign(new Error(`the engine answered ${statusCode}`), { statusCode }));
    });
    outgoing.end();
  });
}

const KILLED = 137;
const OOM_TOLD_MS = 500;
class ContainerFinder {
  #connection;
  #serverId;
  #ledger;
  constructor(connection, serverId, ledger) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
  }
  /** What the engine is asked by: the id that was recorded, since a name can be given to another container. */
  idOf(name) {
    return this.#ledger.find("container", name)?.engine_id ?? name;
  }
  /** A container by name or id; null when there is none. */
  async find(name) {
    const recorded = this.idOf(name);
    const found = await this.#look(recorded);
    if (found || recorded === name) return found;
    const anew = await this.#look(name);
    if (!anew || !isLabelled(this.#serverId, anew.Config.Labels)) return null;
    this.#ledger.record("container", name, anew.Id);
    return anew;
  }
  #look(nameOrId) {
    return this.#connection.find(
      `looking at the container ${nameOrId}`,
      (docker, abortSignal) => docker.getContainer(nameOrId).inspect({ abortSignal })
    );
  }
  /** A look that knows why a killed program was killed: the engine may tell of its end a moment before. */
  async findSettled(name) {
    for (; ; ) {
      const found = await this.find(name);
      if (!found || found.State.Running || found.State.OOMKilled || found.State.ExitCode !== KILLED)
        return found;
      const endedMs = Date.now() - Date.parse(found.State.FinishedAt);
      if (!(endedMs >= 0 && endedMs < OOM_TOLD_MS)) return found;
      await setTimeout$1(OOM_TOLD_MS - endedMs);
    }
  }
  /** Null when it is not there. Throws when it is not recorded as this server's. */
  async findOwn(name) {
    const found = await this.find(name);
    const recorded = this.#ledger.find("container", name);
    const isOwn = recorded && (recorded.engine_id !== null || isLabelled(this.#serverId, found?.Config.Labels));
    if (found && !isOwn) {
      throw new AppError(
        "runtime_error",
        `the container ${name} was not made by this server and is left alone`
      );
    }
    return found;
  }
}

const MAX_LINE_BYTES$1 = 16 * 1024;
const HEADER_BYTES = 8;
const NEWLINE$1 = 10;
const SPACE = 32;
const ENGINE_FAULT = 3;
const ENGINE_TIME = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d{1,9})?(Z|[+-]\d{2}:\d{2})$/;
class LogFrames {
  #now;
  #buffer = Buffer.alloc(0);
  #lastTime = null;
  #pending = { stdout: null, stderr: null };
  /** `now` tells the time where the frames have no timestamps, as those of an attached container. */
  constructor(now = null) {
    this.#now = now;
  }
  /** Adds bytes of the stream and returns the lines that they complete. */
  push(chunk) {
    this.#buffer = this.#buffer.length === 0 ? chunk : Buffer.concat([this.#buffer, chunk]);
    const lines = [];
    let at = 0;
    while (this.#buffer.length - at >= HEADER_BYTES) {
      const end = at + HEADER_BYTES + this.#buffer.readUInt32BE(at + 4);
      if (this.#buffer.length < end) break;
      const type = this.#buffer[at];
      const payload = this.#buffer.subarray(at + HEADER_BYTES, end);
      if (type === ENGINE_FAULT) lines.push(this.#fault(payload));
      else this.#frame(type === 2 ? "stderr" : "stdout", payload, lines);
      at = end;
    }
    this.#buffer = this.#buffer.subarray(at);
    return lines;
  }
  /** The last line of each stream when it had no newline. */
  end() {
    return ["stdout", "stderr"].flatMap((stream) => {
      const pending = this.#pending[stream];
      this.#pending[stream] = null;
      return pending ? [finish(stream, pending)] : [];
    });
  }
  #frame(stream, payload, lines) {
    const { ts, start } = this.#timed(payload);
    let from = start;
    do {
      const pending = this.#pending[stream] ??= { ts, parts: [], length: 0 };
      const newline = payload.indexOf(NEWLINE$1, from);
      append(pending, payload.subarray(from, newline < 0 ? payload.length : newline));
      if (newline < 0) return;
      lines.push(finish(stream, pending));
      this.#pending[stream] = null;
      from = newline + 1;
    } while (from < payload.length);
  }
  /** Not a part of any line that the program has begun. */
  #fault(payload) {
    const pending = { ts: this.#untimed(), parts: [], length: 0 };
    append(pending, payload.subarray(0, payload.at(-1) === NEWLINE$1 ? -1 : payload.length));
    return finish("stderr", pending);
  }
  /** The time of a frame, and where its text starts. */
  #timed(payload) {
    if (this.#now) return { ts: this.#now(), start: 0 };
    const space = payload.indexOf(SPACE);
    const ts = payload.subarray(0, Math.max(0, space)).toString("latin1");
    if (!ENGINE_TIME.test(ts) || Number.isNaN(Date.parse(ts))) return { ts: this.#untimed(), start: 0 };
    this.#lastTime = ts;
    return { ts, start: space + 1 };
  }
  /** Not later than what was read: the log is read on from its newest line. */
  #untimed() {
    return this.#now?.() ?? this.#lastTime ?? (/* @__PURE__ */ new Date()).toISOString();
  }
}
function append(pending, bytes) {
  const room = MAX_LINE_BYTES$1 - pending.length;
  if (room <= 0) return;
  pending.parts.push(Buffer.from(bytes.subarray(0, room)));
  pending.length += Math.min(room, bytes.length);
}
function finish(stream, { ts, parts }) {
  return { ts, stream, line: Buffer.concat(parts).toString("utf8").replace(/\r$/, "") };
}

class ContainerOutput {
  #connection;
  #finder;
  constructor(connection, serverId, ledger) {
    this.#connection = connection;
    this.#finder = new ContainerFinder(connection, serverId, ledger);
  }
  /** A container's output, oldest first, whole lines. Ends with the container or the signal; slow readers slow it down. */
  async *logs(name, options) {
    const { signal } = options;
    if (signal.aborted) return;
    const doing = `reading the output of ${name}`;
    const path = `/containers/${this.#finder.idOf(name)}/logs?`;
    const body = await this.#connection.stream(doing, { method: "GET", path, query: logQuery(options), signal }).catch((error) => {
      if (signal.aborted) return null;
      throw error;
    });
    if (!body) return;
    const frames = new LogFrames();
    try {
      for await (const chunk of body) yield* frames.push(chunk);
      yield* frames.end();
    } catch (error) {
      if (!signal.aborted) throw engineFault(doing, this.#connection.socketPath, error);
    } finally {
      body.destroy();
    }
  }
  /**
   * What a container prints from now on, also at its next start when it does not run, line by line as it comes: it ends
   * with the program. It is attached once this has returned. Nothing is missed, whatever becomes of the engine's log: a
   * reader that stands still holds the program back after about 1 MB. Throws `runtime_error`, also for a paused one.
   */
  async attach(name, signal) {
    const doing = `attaching to ${name}`;
    const query = { stream: true, stdout: true, stderr: true };
    const path = `/containers/${this.#finder.idOf(name)}/attach?`;
    const body = await this.#connection.stream(doing, { method: "POST", path, query, signal });
    body.on("error", () => {
    });
    signal.addEventListener("abort", () => body.destroy(), { once: true });
    return this.#attached(name, doing, body, signal);
  }
  async *#attached(name, doing, body, signal) {
    let now = "";
    const frames = new LogFrames(() => now);
    try {
      for await (const chunk of body) {
        now = timestamp(Date.now());
        yield frames.push(chunk);
      }
      const begun = frames.end();
      if (begun.length > 0 && await this.#hasEnded(name)) yield begun;
    } catch (error) {
      if (!signal.aborted) throw engineFault(doing, this.#connection.socketPath, error);
    } finally {
      body.destroy();
    }
  }
  async #hasEnded(name) {
    const found = await this.#finder.find(name).catch(() => void 0);
    return found !== void 0 && found?.State.Running !== true;
  }
  /**
   * The raw streams of a container that is made with `streams` and not started yet. They end with the program or the
   * signal; nothing is lost, since who does not read holds the program back. Throws `runtime_error`.
   */
  async streams(name, signal) {
    const socket = await this.#connection.call(
      `attaching to ${name}`,
      (_, limited) => takeOver(
        this.#connection.socketPath,
        `/containers/${this.#finder.idOf(name)}/attach?stream=1&stdin=1&stdout=1&stderr=1`,
        limited
      ),
      { signal }
    );
    const attachment = new Attachment(socket);
    signal.addEventListener("abort", () => attachment.close(), { once: true });
    return attachment;
  }
}
function logQuery({ since, tail, follow }) {
  return {
    stdout: true,
    stderr: true,
    timestamps: true,
    follow: follow ?? false,
    ...tail === void 0 ? {} : { tail },
    ...since === void 0 ? {} : { since: unixTime(since) }
  };
}
function unixTime(timestamp2) {
  const seconds = Math.floor(Date.parse(timestamp2) / 1e3);
  const fraction = /\.(\d+)/.exec(timestamp2)?.[1] ?? "";
  return `${seconds}.${fraction.padEnd(9, "0").slice(0, 9)}`;
}

const DEFAULT_PIDS = 1024;
const LOG_OPTIONS = { "max-size": "10m", "max-file": "3" };
const NANO$1 = 1e9;
const CAPABILITIES = [
  "CHOWN",
  "DAC_OVERRIDE",
  "FOWNER",
  "FSETID",
  "KILL",
  "NET_BIND_SERVICE",
  "SETGID",
  "SETPCAP",
  "SETUID",
  "SYS_CHROOT"
];
function limitsOf({ memoryBytes, cpus: wanted }) {
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(Math.min(wanted, cpus().length) * NANO$1)
  };
}
function createOptions(spec, labels, { openFiles, quota }) {
  const port = spec.publishPort === void 0 ? null : `${spec.publishPort}/tcp`;
  return {
    name: spec.name,
    Image: spec.image,
    Labels: labels,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...spec.command ? { Cmd: spec.command } : {},
    ...spec.entrypoint ? { Entrypoint: spec.entrypoint } : {},
    ...spec.user ? { User: spec.user } : {},
    ...spec.stopSignal ? { StopSignal: spec.stopSignal } : {},
    ...spec.stopSeconds ? { StopTimeout: spec.stopSeconds } : {},
    ...port ? { ExposedPorts: { [port]: {} } } : {},
    ...spec.streams ? { OpenStdin: true, StdinOnce: true, AttachStdin: true } : {},
    // Health is probed from outside; a check that the image brings would only use up the container's limits.
    Healthcheck: { Test: ["NONE"] },
    HostConfig: {
      ...limitsOf(spec),
      PidsLimit: spec.pidsLimit ?? DEFAULT_PIDS,
      Init: true,
      ...spec.shmBytes === void 0 ? {} : { ShmSize: spec.shmBytes },
      SecurityOpt: ["no-new-privileges"],
      CapDrop: ["ALL"],
      CapAdd: CAPABILITIES,
      Ulimits: ulimitsOf(openFiles),
      ...quota ? { StorageOpt: QUOTA } : {},
      // The server supervises: the engine's own policy forgets containers when the engine is killed.
      RestartPolicy: { Name: "no" },
      LogConfig: spec.streams ? { Type: "none", Config: {} } : { Type: "json-file", Config: LOG_OPTIONS },
      NetworkMode: spec.network,
      // Without the host's search domains: a wildcard there would answer for a service that has no instance now.
      ...spec.dns ? { Dns: spec.dns, DnsSearch: ["."] } : {},
      ...spec.volume ? { Mounts: [{ Type: "volume", Source: spec.volume.name, Target: spec.volume.path }] } : {},
      ...port ? { PortBindings: { [port]: [{ HostIp: "127.0.0.1", HostPort: String(spec.hostPort ?? "") }] } } : {}
    },
    NetworkingConfig: {
      EndpointsConfig: {
        [spec.network]: {
          ...spec.aliases ? { Aliases: spec.aliases } : {},
          ...spec.address ? { IPAMConfig: { IPv4Address: spec.address } } : {}
        }
      }
    }
  };
}

function stateOf$1(found) {
  const { State, NetworkSettings } = found;
  const wasRun = !State.Running && State.Status !== "created";
  return {
    id: found.Id,
    name: withoutSlash(found.Name),
    image: found.Image,
    labels: found.Config.Labels ?? {},
    status: State.Status,
    running: State.Running,
    paused: State.Paused,
    exitCode: wasRun ? State.ExitCode : null,
    oomKilled: State.OOMKilled,
    error: State.Error === "" ? null : State.Error,
    address: addressOf(NetworkSettings.Networks),
    networks: networksOf(NetworkSettings.Networks),
    settings: settingsOf(found.HostConfig),
    publishedPort: publishedPort(
      Object.values(NetworkSettings.Ports ?? {}).flatMap((bindings) => bindings ?? [])
    )
  };
}
function summaryOf(info) {
  return {
    id: info.Id,
    name: nameOf(info),
    image: info.ImageID,
    labels: info.Labels ?? {},
    status: info.State,
    running: true,
    paused: false,
    exitCode: null,
    oomKilled: false,
    error: null,
    address: addressOf(info.NetworkSettings?.Networks ?? {}),
    networks: networksOf(info.NetworkSettings?.Networks ?? {}),
    settings: "",
    publishedPort: info.Ports?.find(({ PublicPort }) => PublicPort)?.PublicPort ?? null
  };
}
function nameOf(info) {
  return withoutSlash(info.Names[0] ?? "");
}
function withoutSlash(name) {
  return name.replace(/^\//, "");
}
function networksOf(networks) {
  return Object.values(networks).map(({ NetworkID, IPAddress, IPAMConfig }) => ({
    id: NetworkID ?? "",
    address: IPAMConfig?.IPv4Address || IPAddress || null
  }));
}
function settingsOf(host) {
  const { Memory, MemorySwap, NanoCpus, CpuQuota, CpusetCpus, PidsLimit, RestartPolicy } = host;
  return JSON.stringify([Memory, MemorySwap, NanoCpus, CpuQuota, CpusetCpus, PidsLimit, RestartPolicy?.Name]);
}
function addressOf(networks) {
  return Object.values(networks).find(({ IPAddress }) => IPAddress)?.IPAddress ?? null;
}
function publishedPort(bindings) {
  const port = bindings.find(({ HostPort }) => HostPort)?.HostPort;
  return port === void 0 ? null : Number(port);
}

const MAX_OBJECT_BYTES = 32 * 1024 * 1024;
async function* jsonLines(stream) {
  let parts = [];
  let length = 0;
  for await (const chunk of stream) {
    let from = 0;
    for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, from)) {
      parts.push(chunk.subarray(from, end));
      const value = parse$1(Buffer.concat(parts));
      if (value) yield value;
      parts = [];
      length = 0;
      from = end + 1;
    }
    parts.push(chunk.subarray(from));
    length += chunk.length - from;
    if (length > MAX_OBJECT_BYTES) throw new Error("the engine sent a line of progress without an end");
  }
  const rest = parse$1(Buffer.concat(parts));
  if (rest) yield rest;
}
function parse$1(line) {
  try {
    const value = JSON.parse(line.toString("utf8"));
    return typeof value === "object" && value !== null ? value : null;
  } catch {
    return null;
  }
}

const LISTEN = "0A";
const ENGINE_RESOLVER = "0B00007F";
const LOOPBACK_V6 = "00000000000000000000000001000000";
async function listenersOf(pid, containerId) {
  try {
    if (!(await readFile(`/proc/${pid}/cgroup`, "utf8")).includes(containerId)) return null;
    const v4 = await readFile(`/proc/${pid}/net/tcp`, "utf8");
    const v6 = await readFile(`/proc/${pid}/net/tcp6`, "utf8").catch(() => "");
    return listenersIn(v4, v6);
  } catch {
    return null;
  }
}
function listenersIn(v4, v6) {
  return merge([...parse(v4), ...parse(v6)]);
}
function parse(table) {
  const listeners = [];
  for (const row of table.split("\n").slice(1)) {
    const [, local, , state] = row.trim().split(/\s+/);
    if (state !== LISTEN || local === void 0) continue;
    const [address, port] = local.split(":");
    if (address === ENGINE_RESOLVER) continue;
    listeners.push({
      port: Number.parseInt(port, 16),
      host: hostOf(address),
      isLoopback: isLoopback(address)
    });
  }
  return listeners;
}
function isLoopback(address) {
  return address.length === 8 ? address.endsWith("7F") : address === LOOPBACK_V6 || /^0{16}F{4}0{4}\w{6}7F$/i.test(address);
}
function hostOf(address) {
  if (address.length === 8) return octets(address);
  if (address === LOOPBACK_V6) return "[::1]";
  return /^0+$/.test(address) ? "[::]" : `[::ffff:${octets(address.slice(-8))}]`;
}
function octets(word) {
  return word.match(/../g).reverse().map((octet) => Number.parseInt(octet, 16)).join(".");
}
function merge(listeners) {
  const byPort = /* @__PURE__ */ new Map();
  for (const listener of listeners) {
    const known = byPort.get(listener.port);
    const isLoopback2 = listener.isLoopback && (known?.isLoopback ?? true);
    byPort.set(listener.port, { ...known ?? listener, isLoopback: isLoopback2 });
  }
  return [...byPort.values()].sort((a, b) => a.port - b.port);
}

const STOP_SLACK_MS = 6e4;
const GONE_WITHIN_MS = 3e4;
const GONE_PERIOD_MS = 50;
const PARALLEL_INSPECTS = 8;
class Containers {
  #connection;
  #serverId;
  #ledger;
  #trial;
  #finder;
  constructor(connection, serverId, ledger, trial) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
    this.#trial = trial;
    this.#finder = new ContainerFinder(connection, serverId, ledger);
  }
  /** Makes a container, not started yet, and returns its id. Throws `runtime_error`. */
  async create(spec) {
    const doing = `creating the container ${spec.name}`;
    const ofImage = await this.#connection.find(
      doing,
      (docker, abortSignal) => docker.getImage(spec.image).inspect({ abortSignal })
    );
    const labels = {
      ...withoutClaims(ofImage?.Config.Labels ?? {}),
      ...ownLabels(this.#serverId, spec.labels)
    };
    const options = createOptions(spec, labels, await this.#trial.known());
    const former = this.#ledger.find("container", spec.name);
    this.#ledger.record("container", spec.name);
    try {
      const { id } = await this.#connection.call(
        doing,
        (docker, abortSignal) => docker.createContainer({ ...options, abortSignal })
      );
      this.#ledger.record("container", spec.name, id);
      return id;
    } catch (error) {
      if (former && statusOf(error.cause) === 409)
        this.#ledger.record("container", spec.name, former.engine_id);
      throw error;
    }
  }
  /** Starts a container; one that runs already stays as it is. Throws `runtime_error`. */
  async start(name) {
    await this.#tolerate(
      `starting the container ${name}`,
      [304],
      (docker, abortSignal) => docker.getContainer(this.#finder.idOf(name)).start({ abortSignal })
    );
  }
  /** Asks the program to end and kills it after `graceSeconds`. One that does not run or is not there stays so. */
  async stop(name, graceSeconds) {
    const found = await this.#finder.findOwn(name);
    if (!found) return;
    if (found.State.Paused) await this.#unpause(name, found.Id);
    await this.#tolerate(
      `stopping the container ${name}`,
      [304, 404],
      (docker, signal) => docker.getContainer(found.Id).stop({ t: graceSeconds, abortSignal: signal }),
      graceSeconds * 1e3 + STOP_SLACK_MS
    );
  }
  /** Kills the program at once. One that does not run or is not there stays so. */
  async kill(name) {
    const found = await this.#finder.findOwn(name);
    if (!found?.State.Running) return;
    if (found.State.Paused) await this.#unpause(name, found.Id);
    await this.#tolerate(
      `killing the container ${name}`,
      [404, 409],
      (docker, abortSignal) => docker.getContainer(found.Id).kill({ abortSignal })
    );
  }
  /** Removes a container, running or not, with its nameless volumes. One that is not there is fine. Throws `runtime_error`. */
  async remove(name) {
    const found = await this.#finder.findOwn(name);
    if (found) {
      const doing = `removing the container ${name}`;
      await this.#tolerate(
        doing,
        [404, 409],
        (docker, abortSignal) => docker.getContainer(found.Id).remove({ force: true, v: true, abortSignal })
      );
      await this.#untilGone(doing, found.Id);
    }
    this.#ledger.forget("container", name);
  }
  /** Until then its name, its address and its volumes are in use. */
  async #untilGone(doing, id) {
    for (const began = performance.now(); performance.now() - began < GONE_WITHIN_MS; await setTimeout$1(GONE_PERIOD_MS))
      if (await this.#finder.find(id) === null) return;
    throw new AppError("runtime_error", `${doing}: it is being removed by somebody else, and still there`);
  }
  /** The state of a container by name or id; null when there is none. */
  async inspect(name) {
    const found = await this.#finder.findSettled(name);
    return found && stateOf$1(found);
  }
  /** This server's containers that carry all of the labels, running or not, by the names that it recorded. */
  async list(labels) {
    const rest = await this.#listed({ label: labelFilter(this.#serverId, labels) }, true);
    const states = [];
    const work = async () => {
      for (let next = rest.shift(); next; next = rest.shift()) {
        const { info, name } = next;
        if (name === void 0) continue;
        const state = info.State === "running" ? summaryOf(info) : await this.inspect(name);
        if (state) states.push({ ...state, name });
      }
    };
    await Promise.all(Array.from({ length: PARALLEL_INSPECTS }, work));
    return states;
  }
  /** The containers that use a volume and run, and carry this server's label, but that it has not recorded, by name. */
  async unrecordedUsers(volume) {
    const found = await this.#listed({ label: labelFilter(this.#serverId), volume: [volume] }, false);
    return found.filter(({ name }) => name === void 0).map(({ info }) => nameOf(info));
  }
  /** The engine's containers, each with the name that was recorded for it, if one was. */
  async #listed(filters, all) {
    const found = await this.#connection.call(
      "listing containers",
      (docker, abortSignal) => docker.listContainers({ all, filters, abortSignal })
    );
    const names = new Map(
      this.#ledger.list("container").map((thing) => [thing.engine_id ?? thing.name, thing.name])
    );
    return found.map((info) => ({ info, name: names.get(info.Id) ?? names.get(nameOf(info)) }));
  }
  /** Waits until the program ends. Throws the signal's reason, or `runtime_error` when the container or the engine goes away. */
  async wait(name, signal) {
    const doing = `waiting for ${name}`;
    const path = `/containers/${this.#finder.idOf(name)}/wait`;
    const body = await this.#connection.stream(doing, { method: "POST", path, signal });
    let exitCode;
    try {
      for await (const { StatusCode } of jsonLines(body)) exitCode = StatusCode;
    } catch (error) {
      signal.throwIfAborted();
      throw engineFault(doing, this.#connection.socketPath, error);
    } finally {
      body.destroy();
    }
    if (exitCode === void 0) throw new EngineAway(`${doing}: the container engine went away`);
    const state = await this.inspect(name);
    return { exitCode, oomKilled: state?.oomKilled ?? false };
  }
  /**
   * Changes the limits of a container in place. Not for an instance, whose settings must stay as they were recorded: it
   * would be made anew. Throws `runtime_error` where the engine cannot (Podman before 5).
   */
  async update(name, limits) {
    await this.#connection.call(
      `changing the limits of ${name}`,
      (docker, abortSignal) => docker.getContainer(this.#finder.idOf(name)).update({ ...limitsOf(limits), abortSignal })
    );
  }
  /** What listens inside a container; null when it does not run or cannot be seen from here. */
  async listeners(name) {
    const found = await this.#finder.find(name);
    return found && found.State.Pid > 0 ? listenersOf(found.State.Pid, found.Id) : null;
  }
  /** Unpacks a tar stream into a folder of a container. */
  async putArchive(name, folder, tar) {
    await this.#connection.call(
      `copying into ${name}`,
      (docker, abortSignal) => docker.getContainer(this.#finder.idOf(name)).putArchive(tar, { path: folder, abortSignal })
    );
  }
  /** A file or folder of a container as a tar stream; null when there is none of that name. */
  async getArchive(name, path, signal) {
    const doing = `copying from ${name}`;
    const body = await this.#connection.find(
      doing,
      (docker, abortSignal) => docker.getContainer(this.#finder.idOf(name)).getArchive({ path, abortSignal }),
      { signal }
    );
    if (!body) return null;
    const archive = new PassThrough();
    finished(body, (error) => {
      if (!error) return;
      const fault = engineFault(doing, this.#connection.socketPath, error);
      archive.destroy(signal?.aborted ? signal.reason : fault);
    });
    return body.pipe(archive.once("close", () => body.destroy()));
  }
  #unpause(name, id) {
    return this.#tolerate(
      `unpausing the container ${name}`,
      [404, 409, 500],
      (docker, abortSignal) => docker.getContainer(id).unpause({ abortSignal })
    );
  }
  async #tolerate(doing, statuses, work, timeoutMs) {
    const tolerant = async (docker, signal) => {
      try {
        await work(docker, signal);
      } catch (error) {
        if (!statuses.includes(statusOf(error) ?? 0)) throw error;
      }
    };
    await this.#connection.call(doing, tolerant, timeoutMs === void 0 ? {} : { timeoutMs });
  }
}

async function* engineEvents(connection, serverId, signal) {
  const doing = "reading the engine's events";
  const filters = { type: ["container"], label: labelFilter(serverId) };
  const query = { filters: JSON.stringify(filters) };
  const body = await connection.stream(doing, { method: "GET", path: "/events?", query, signal });
  try {
    for await (const value of jsonLines(body)) yield read(value);
  } catch (error) {
    if (!signal.aborted) throw engineFault(doing, connection.socketPath, error);
  } finally {
    body.destroy();
  }
}
function read({ Type, Action, Actor }) {
  const attributes = Actor.Attributes ?? {};
  const exitCode = attributes.exitCode ?? attributes.containerExitCode;
  return {
    type: Type,
    action: Action,
    id: Actor.ID,
    attributes,
    ...exitCode === void 0 ? {} : { exitCode: Number(exitCode) }
  };
}

const FRAMES = [
  /^failed to solve(?: with frontend [\w.]+)?:\s*/,
  /^failed to (?:create LLB definition|build LLB|compute cache key|load cache key):\s*/,
  /^executor failed running \[[^\]]*\]: (?!exit code)/,
  /^rpc error: code = \w+ desc = /
];
const SCRATCH = /\/\S{0,200}\/(?:buildkit-mount|libpod_builder|buildah-context-?)\d+\/(?:build\/)?/g;
const PODMAN_STEP = /^building at STEP "([^]*?)": /;
const RULES = [commandFailed, dockerfileWrong, secretMissing, baseMissing, fileMissing];
function explainBuild(message, steps) {
  let text = message.trim();
  for (let before = ""; before !== text; ) {
    before = text;
    for (const frame of FRAMES) text = text.replace(frame, "");
  }
  const named = PODMAN_STEP.exec(text);
  if (named) text = text.slice(named[0].length);
  const fault = { text: text.replaceAll(SCRATCH, ""), step: steps.at(-1) ?? named?.[1] ?? null };
  for (const rule of RULES) {
    const explained = rule(fault);
    if (explained !== null) return explained;
  }
  return fault.step === null ? explain(fault.text) : `the step ${quote(fault.step)} failed: ${explain(fault.text)}`;
}
function commandFailed({ text, step }) {
  const code = /exit code: (\d+)|exit status (\d+)|returned a non-zero code: (\d+)/.exec(text)?.slice(1).find(Boolean);
  if (code === void 0) return null;
  const command = /\[\/bin\/sh -c ([^\]]*)\]|["']\/bin\/sh -c ([^"']*)["']/.exec(text)?.slice(1).find(Boolean);
  const named = step ?? command;
  const why = /cannot allocate memory/.test(text) ? " (it ran out of the memory that builds may use)" : code === "137" ? " (it was killed)" : "";
  return `the step${named ? ` ${quote(named)}` : ""} failed with exit code ${code}${why}`;
}
function dockerfileWrong({ text }) {
  const missing = /^(?:failed to read dockerfile: open|stat) (\S+): no such file/.exec(text);
  if (missing) return `there is no Dockerfile at ${missing[1]} in the source: add it, or set dockerfile_path`;
  if (/^file with no instructions|no FROM statement found|no build stage in current context|the Dockerfile cannot be empty/i.test(
    text
  )) {
    return "the Dockerfile is empty: it needs a FROM line at least";
  }
  const parse = /^dockerfile parse error (?:on )?(.*)/is.exec(text);
  const unknown = /^Build error: (Unknown instruction: .*)/.exec(text);
  const told = parse?.[1] ?? unknown?.[1];
  return told === void 0 ? null : `the Dockerfile cannot be read: ${told}`;
}
function secretMissing({ text }) {
  const secret = /secret ([\w.-]+)(?::)? not found/.exec(text)?.[1];
  return secret === void 0 ? null : `the build asks for the secret ${secret}, which is no variable of the service`;
}
function baseMissing({ text, step }) {
  const syntax = /^resolve image config for (\S+)/.exec(step ?? "")?.[1];
  if (syntax !== void 0)
    return `the Dockerfile's "# syntax=" line names ${shortName$1(syntax)}, which cannot be pulled: ${explain(text)}`;
  const named = /^\[internal\] load metadata for (\S+)|(?:^|\] )FROM (\S+)/.exec(step ?? "")?.slice(1).find(Boolean);
  const told = /^([a-z0-9.-]+(?::\d+)?\/[\w./-]+(?:[:@][\w.:-]+)?): /.exec(text)?.[1];
  const ofPodman = /initializing source docker:\/\/(\S+): /.exec(text)?.[1];
  const image = named ?? told ?? ofPodman;
  if (image === void 0) return null;
  const reason = text.endsWith(": not found") ? explain("manifest unknown") : explain(text);
  return `the base image ${shortName$1(image)} cannot be pulled: ${reason}`;
}
function fileMissing({ text, step }) {
  const patterns = [/"\/?([^"]+)":? not found/, /lstat (\S+): no such file/, /^"?\/?(\S+?)"?: not found$/];
  for (const pattern of patterns) {
    const path = pattern.exec(text)?.[1];
    if (path === void 0) continue;
    return `${step === null ? "" : `the step ${quote(step)} failed: `}there is no ${path} in the source: check the path, and .dockerignore`;
  }
  return null;
}
function shortName$1(image) {
  return image.replace(/^docker\.io\/(?:library\/)?/, "");
}
const MAX_STEP_LENGTH = 200;
function quote(step) {
  const line = step.replaceAll(/\s+/g, " ");
  return `"${line.length > MAX_STEP_LENGTH ? `${line.slice(0, MAX_STEP_LENGTH)}...` : line}"`;
}

const VARINT = 0;
const FIXED64 = 1;
const BYTES = 2;
const FIXED32 = 5;
function* readFields(message) {
  const cursor = { at: 0 };
  while (cursor.at < message.length) {
    const key = readVarint(message, cursor);
    const number = Math.floor(key / 8);
    switch (key % 8) {
      case VARINT:
        yield { number, value: readVarint(message, cursor) };
        break;
      case BYTES: {
        const length = readVarint(message, cursor);
        const end = cursor.at + length;
        if (end > message.length) throw new RangeError("a protobuf field is cut off");
        yield { number, value: message.subarray(cursor.at, end) };
        cursor.at = end;
        break;
      }
      case FIXED64:
        cursor.at += 8;
        break;
      case FIXED32:
        cursor.at += 4;
        break;
      default:
        throw new RangeError("a protobuf field has no known type");
    }
  }
}
function readVarint(message, cursor) {
  let value = 0;
  for (let factor = 1; ; factor *= 128) {
    const byte = message[cursor.at++];
    if (byte === void 0) throw new RangeError("a protobuf number is cut off");
    value += byte % 128 * factor;
    if (byte < 128) return value;
  }
}
function bytesField(number, value) {
  const bytes = Buffer.from(value);
  return Buffer.concat([varint(number * 8 + BYTES), varint(bytes.length), bytes]);
}
function numberField(number, value) {
  return Buffer.concat([varint(number * 8 + VARINT), varint(value)]);
}
function varint(value) {
  const bytes = [];
  for (let rest = value; ; rest = Math.floor(rest / 128)) {
    if (rest < 128) return Buffer.from([...bytes, rest]);
    bytes.push(rest % 128 + 128);
  }
}

function readVertex(message) {
  const vertex = {
    digest: "",
    name: "",
    isCached: false,
    startedMs: null,
    completedMs: null,
    error: ""
  };
  for (const { number, value } of readFields(message)) {
    if (number === 4) vertex.isCached = value === 1;
    if (typeof value === "number") continue;
    if (number === 1) vertex.digest = value.toString("latin1");
    else if (number === 3) vertex.name = value.toString("utf8");
    else if (number === 5) vertex.startedMs = readTime(value);
    else if (number === 6) vertex.completedMs = readTime(value);
    else if (number === 7) vertex.error = value.toString("utf8");
  }
  return vertex;
}
function readTime(message) {
  let milliseconds = 0;
  for (const { number, value } of readFields(message)) {
    if (typeof value === "number") milliseconds += number === 1 ? value * 1e3 : value / 1e6;
  }
  return milliseconds;
}

const MAX_LINE_BYTES = 16 * 1024;
const NEWLINE = 10;
const MAX_LAST_LINES = 20;
const MAX_LAST_CHARACTERS = 300;
const NO_REASON = /^npm (ERR!|error) A complete log of this run|^npm (notice|ERR!|error)\s*$/;
const MIN_MASKED_LENGTH = 5;
const OPTIONS_BEGIN = /^npm (?:error|ERR!) (?:Clean install a project|Usage:)$/;
const OF_NPM = /^npm (?:error|ERR!)/;
const LONG_ERRAND_MS = 3e3;
class BuildProgress {
  #onLine;
  #onStep;
  #steps = /* @__PURE__ */ new Map();
  #arguments;
  #last = null;
  #announced = 0;
  /**
   * `buildArgs` are those of the build: BuildKit puts their values into the names of steps, where they are taken out
   * again. `onStep` hears of each step that is carried out and not taken from the cache, as it begins and when it has
   * ended, also for nothing.
   */
  constructor(onLine, buildArgs = {}, onStep = () => {
  }) {
    this.#onLine = onLine;
    this.#onStep = onStep;
    this.#arguments = Object.entries(buildArgs).filter(([, value]) => value.length >= MIN_MASKED_LENGTH).sort(([, a], [, b]) => b.length - a.length);
  }
  /** Reads one trace. Throws RangeError when it is not protobuf. */
  read(trace) {
    for (const { number, value } of readFields(trace)) {
      if (typeof value === "number") continue;
      if (number === 1) this.#vertex(readVertex(value));
      else if (number === 3) this.#log(value);
    }
  }
  /** The steps that ended with an error, by their names. */
  failed = [];
  /** What the step that failed last printed before it ended, without what says nothing of the reason. */
  lastLines = [];
  /** Says what steps printed without a newline at their end, and nothing more. */
  end() {
    for (const step of this.#steps.values()) {
      clearTimeout(step.timer);
      this.#flush(step);
    }
  }
  #vertex(vertex) {
    const step = this.#step(vertex.digest);
    if (vertex.name) step.name = this.#nameOf(vertex.name);
    step.startedMs ??= vertex.startedMs;
    this.#tell(step, vertex);
    if (vertex.completedMs !== null || vertex.error) clearTimeout(step.timer);
    if (vertex.error && !step.isDone) {
      step.isDone = true;
      if (vertex.error.endsWith("context canceled")) return;
      this.failed.push(step.name);
      this.#flush(step);
      this.lastLines = step.lastLines;
      this.#say(step, "ERROR");
    } else if (isInternal(step) && !step.isAnnounced) {
      if (step.name !== "" && step.startedMs !== null && vertex.completedMs === null)
        step.timer ??= setTimeout(() => this.#announce(step), LONG_ERRAND_MS);
    } else if (vertex.isCached && !step.isDone) {
      step.isDone = true;
      this.#say(step, "CACHED");
    } else if (vertex.completedMs !== null && step.startedMs !== null && !step.isDone) {
      step.isDone = true;
      this.#say(step, `DONE ${((vertex.completedMs - step.startedMs) / 1e3).toFixed(1)}s`);
    } else if (step.startedMs !== null && !step.isDone) {
      this.#announce(step);
    }
  }
  #tell(step, { name, isCached, startedMs, completedMs, error }) {
    if (startedMs === null || isCached || completedMs === null && step.isTold) return;
    step.isTold = true;
    const buildArgs = Object.fromEntries(this.#arguments.filter(([, value]) => name.includes(value)));
    this.#onStep({ name, buildArgs, hasFailed: error !== "", startedMs, completedMs });
  }
  #say(step, what) {
    this.#flush(step);
    this.#announce(step);
    this.#onLine(`#${step.number} ${what}`, "stdout");
  }
  #announce(step) {
    if (step.isAnnounced) return;
    step.isAnnounced = true;
    step.number = ++this.#announced;
    this.#last = step;
    this.#onLine(`#${step.number} ${step.name}`, "stdout");
  }
  #log(message) {
    let digest = "";
    let stream = "stdout";
    let bytes = Buffer.alloc(0);
    for (const { number, value } of readFields(message)) {
      if (number === 1 && typeof value !== "number") digest = value.toString("latin1");
      else if (number === 3) stream = value === 2 ? "stderr" : "stdout";
      else if (number === 4 && typeof value !== "number") bytes = value;
    }
    const step = this.#step(digest);
    let from = 0;
    for (let end = bytes.indexOf(NEWLINE); end >= 0; end = bytes.indexOf(NEWLINE, from)) {
      this.#print(step, stream, Buffer.concat([step.partial[stream], bytes.subarray(from, end)]));
      step.partial[stream] = Buffer.alloc(0);
      from = end + 1;
    }
    step.partial[stream] = Buffer.concat([step.partial[stream], bytes.subarray(from)]).subarray(
      0,
      MAX_LINE_BYTES
    );
  }
  /** Steps run side by side: a line of another step than the last one is preceded by its heading again. */
  #print(step, stream, line) {
    this.#announce(step);
    if (this.#last !== step) this.#onLine(`#${step.number} ${step.name}`, "stdout");
    this.#last = step;
    const text = line.subarray(0, MAX_LINE_BYTES).toString("utf8").replace(/\r$/, "");
    this.#onLine(text, stream);
    step.listsOptions ||= OPTIONS_BEGIN.test(text);
    if (text.trim() === "" || NO_REASON.test(text) || step.listsOptions && OF_NPM.test(text)) return;
    step.lastLines.push(text.slice(0, MAX_LAST_CHARACTERS));
    if (step.lastLines.length > MAX_LAST_LINES) step.lastLines.shift();
  }
  #flush(step) {
    for (const stream of ["stdout", "stderr"]) {
      if (step.partial[stream].length > 0) this.#print(step, stream, step.partial[stream]);
      step.partial[stream] = Buffer.alloc(0);
    }
  }
  /** A step's name as a line, without the values of arguments. */
  #nameOf(name) {
    let masked = name;
    for (const [argument, value] of this.#arguments) masked = masked.replaceAll(value, () => `$${argument}`);
    return readableName(masked);
  }
  #step(digest) {
    let step = this.#steps.get(digest);
    if (!step) {
      const partial = { stdout: Buffer.alloc(0), stderr: Buffer.alloc(0) };
      step = {
        number: 0,
        name: "",
        isAnnounced: false,
        isTold: false,
        isDone: false,
        startedMs: null,
        partial,
        lastLines: [],
        listsOptions: false,
        timer: void 0
      };
      this.#steps.set(digest, step);
    }
    return step;
  }
}
function isInternal({ name }) {
  return name.startsWith("[internal]") || name.startsWith("copy /context") || name === "";
}
function readableName(name) {
  return name.replace(/--mount=\S+/g, "").replace(/\s+/g, " ").replace("/bin/sh /usr/local/bin/build-step ", "");
}

const MAX_NAME_LENGTH = 255;
const DOMAIN = /^(?:(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9])(?:\.(?:[a-zA-Z0-9]|[a-zA-Z0-9][a-zA-Z0-9-]*[a-zA-Z0-9]))*|\[[a-fA-F0-9:]+\])(?::[0-9]+)?$/;
const PATH = /^[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*(?:\/[a-z0-9]+(?:(?:[._]|__|-+)[a-z0-9]+)*)*$/;
const TAG = /^\w[\w.-]{0,127}$/;
const DIGEST = /^sha256:[a-f0-9]{64}$|^sha512:[a-f0-9]{128}$/;
const BARE_ID = /^[a-f0-9]{64}$/;
function parseReference(text) {
  const [beforeDigest, digest, ...more] = text.split("@");
  if (more.length > 0) throw wrong(text, "it has more than one @");
  if (digest !== void 0 && !DIGEST.test(digest))
    throw wrong(text, "its digest must be sha256: and 64 hex digits");
  const { name, tag } = splitTag(beforeDigest);
  if (tag !== null && !TAG.test(tag))
    throw wrong(text, 'its tag may have letters, digits, ".", "_" and "-", 128 at most');
  if (BARE_ID.test(name)) throw wrong(text, "it is an id; name the image by its repository");
  if (name.length > MAX_NAME_LENGTH)
    throw wrong(text, `its name is longer than ${MAX_NAME_LENGTH} characters`);
  const { registry, path } = splitRegistry(name);
  if (!DOMAIN.test(registry)) throw wrong(text, `its registry ${registry} is not a host name`);
  if (!PATH.test(path)) {
    throw wrong(
      text,
      'its repository must be lower-case letters and digits, with single ".", "_" or "-" and "/" between'
    );
  }
  return { registry, path, tag, digest: digest ?? null };
}
function formatReference({ registry, path, tag, digest }) {
  return `${registry}/${path}${tag === null ? "" : `:${tag}`}${digest === null ? "" : `@${digest}`}`;
}
function splitTag(text) {
  const colon = text.lastIndexOf(":");
  if (colon < 0 || text.indexOf("/", colon) >= 0) return { name: text, tag: null };
  return { name: text.slice(0, colon), tag: text.slice(colon + 1) };
}
function splitRegistry(name) {
  const slash = name.indexOf("/");
  const first = name.slice(0, slash);
  const isHost = slash > 0 && (/[.:]/.test(first) || first === "localhost" || first !== first.toLowerCase());
  const registry = isHost ? canonicalRegistry(first) : "docker.io";
  const path = isHost ? name.slice(slash + 1) : name;
  return { registry, path: registry === "docker.io" && !path.includes("/") ? `library/${path}` : path };
}
function canonicalRegistry(host) {
  return host === "index.docker.io" || host === "registry-1.docker.io" ? "docker.io" : host;
}
function wrong(text, why) {
  const shown = text.length > MAX_NAME_LENGTH ? `${text.slice(0, MAX_NAME_LENGTH)}...` : text;
  return new AppError("invalid_request", `${JSON.stringify(shown)} is not an image reference: ${why}`);
}

const OK = 0;
const NOT_FOUND = 5;
const UNIMPLEMENTED = 12;
const INTERNAL = 13;
const FRAME_HEADER_BYTES = 5;
const MAX_REQUEST_BYTES = 64 * 1024;
const METHODS = {
  "/grpc.health.v1.Health/Check": () => ({ status: OK, body: numberField(1, 1) }),
  "/moby.buildkit.secrets.v1.Secrets/GetSecret": (request, { secrets }) => {
    const id = textField(request, 1);
    const value = Object.hasOwn(secrets, id) ? secrets[id] : void 0;
    return value === void 0 ? { status: NOT_FOUND } : { status: OK, body: bytesField(1, value) };
  },
  "/moby.filesync.v1.Auth/Credentials": async (request, { registryAuth }) => {
    const found = await registryAuth(canonicalRegistry(textField(request, 1)));
    if (!found) return { status: OK, body: Buffer.alloc(0) };
    const secret = bytesField(2, found.identityToken ?? found.password);
    return { status: OK, body: Buffer.concat([bytesField(1, found.username), secret]) };
  }
};
async function openBuildSession(connection, offer, signal) {
  const id = randomUUID();
  const socket = await connection.upgrade("opening a build session", {
    method: "POST",
    path: "/session",
    headers: {
      Upgrade: "h2c",
      "X-Docker-Expose-Session-Uuid": id,
      "X-Docker-Expose-Session-Name": "deployer",
      "X-Docker-Expose-Session-Sharedkey": "",
      // Node sends a list as one header line each, as BuildKit reads it.
      "X-Docker-Expose-Session-Grpc-Method": Object.keys(METHODS)
    },
    signal
  });
  if (!socket) return null;
  const session = performServerHandshake(socket);
  session.on("error", () => {
  });
  session.on(
    "stream",
    (stream, headers) => serve(stream, headers, offer)
  );
  return { id, close: () => void setImmediate(close, session, socket) };
}
function close(session, socket) {
  session.destroy();
  socket.destroy();
}
function serve(stream, headers, offer) {
  const method = METHODS[String(headers[":path"])];
  const chunks = [];
  let length = 0;
  stream.on("error", () => {
  });
  stream.on("data", (chunk) => {
    length += chunk.length;
    if (length <= MAX_REQUEST_BYTES) chunks.push(chunk);
    else stream.destroy();
  });
  stream.on("end", () => {
    const request = Buffer.concat(chunks).subarray(FRAME_HEADER_BYTES);
    answer(method, request, offer).then(
      (result) => respond(stream, result),
      () => respond(stream, { status: INTERNAL })
    );
  });
}
async function answer(method, request, offer) {
  return method ? method(request, offer) : { status: UNIMPLEMENTED };
}
function respond(stream, { status, body }) {
  if (stream.destroyed) return;
  stream.respond({ ":status": 200, "content-type": "application/grpc" }, { waitForTrailers: true });
  stream.on("wantTrailers", () => stream.sendTrailers({ "grpc-status": String(status) }));
  if (!body) {
    stream.end();
    return;
  }
  const header = Buffer.alloc(FRAME_HEADER_BYTES);
  header.writeUInt32BE(body.length, 1);
  stream.end(Buffer.concat([header, body]));
}
function textField(message, wanted) {
  for (const { number, value } of readFields(message)) {
    if (number === wanted && typeof value !== "number") return value.toString("utf8");
  }
  return "";
}

const HUB_KEY = "https://index.docker.io/v1/";
const HELPER_TIMEOUT_MS = 15e3;
const HELPER_NAME = /^[\w.-]+$/;
async function registryCredentials(registry) {
  const configuration = await readConfiguration();
  const helper = findByRegistry(configuration.credHelpers ?? {}, registry);
  if (helper) return askHelper(helper.value, helper.key);
  const entry = findByRegistry(configuration.auths ?? {}, registry);
  const written = entry && readEntry(entry.value);
  if (written) return written;
  if (configuration.credsStore) return askHelper(configuration.credsStore, entry?.key ?? keyOf(registry));
  return null;
}
function configurationFile() {
  return join(process.env.DOCKER_CONFIG ?? join(homedir(), ".docker"), "config.json");
}
async function readConfiguration() {
  const file = configurationFile();
  try {
    const value = JSON.parse(await readFile(file, "utf8"));
    return typeof value === "object" && value !== null ? value : {};
  } catch (error) {
    if (error.code === "ENOENT") return {};
    throw new AppError(
      "runtime_error",
      `the registry credentials in ${file} cannot be read: correct or remove it`,
      {
        cause: error
      }
    );
  }
}
function findByRegistry(entries, registry) {
  for (const [key, value] of Object.entries(entries)) {
    const host = key.replace(/^https?:\/\//, "").split("/")[0];
    if (canonicalRegistry(host) === registry) return { key, value };
  }
  return null;
}
function keyOf(registry) {
  return registry === "docker.io" ? HUB_KEY : registry;
}
function readEntry(entry) {
  if (entry.identitytoken) return { username: "", password: "", identityToken: entry.identitytoken };
  if (entry.auth) {
    const pair = Buffer.from(entry.auth, "base64").toString();
    const colon = pair.indexOf(":");
    if (colon > 0)
      return { username: pair.slice(0, colon), password: pair.slice(colon + 1).split("\0", 1)[0] };
  }
  if (entry.username) return { username: entry.username, password: entry.password ?? "" };
  return null;
}
function askHelper(name, key) {
  if (!HELPER_NAME.test(name)) {
    throw new AppError(
      "runtime_error",
      `${configurationFile()} names a credential helper that is none: ${name}`
    );
  }
  return new Promise((resolve, reject) => {
    const program = `docker-credential-${name}`;
    const child = execFile(program, ["get"], { timeout: HELPER_TIMEOUT_MS }, (error, stdout) => {
      if (error && error.code === "ENOENT") {
        reject(new AppError("runtime_error", `${program}, named in ${configurationFile()}, is not installed`));
        return;
      }
      if (error) return resolve(null);
      const answer = readAnswer(stdout);
      if (answer === null) {
        reject(
          new AppError("runtime_error", `${program}, named in ${configurationFile()}, gave no credentials`)
        );
      } else if (answer.Username === "<token>") {
        resolve({ username: "", password: "", identityToken: answer.Secret });
      } else resolve({ username: answer.Username, password: answer.Secret });
    });
    child.stdin?.on("error", () => {
    });
    child.stdin?.end(key);
  });
}
function readAnswer(printed) {
  try {
    const { Username, Secret } = JSON.parse(printed);
    return typeof Username === "string" && typeof Secret === "string" ? { Username, Secret } : null;
  } catch {
    return null;
  }
}

const EMPTY_TRACES_AFTER_END = 100;
const CANCEL_TIMEOUT_MS = 5e3;
async function buildImage(connection, cache, context, options) {
  const { signal } = options;
  const offer = { secrets: options.secrets ?? {}, registryAuth: options.registryAuth ?? registryCredentials };
  const session = await openBuildSession(connection, offer, signal);
  const buildId = randomUUID();
  const progress = new BuildProgress(options.onLine, options.buildArgs, (step) => cache.note(step));
  try {
    const body = await connection.call(
      "building the image",
      (docker, abortSignal) => docker.buildImage(context, {
        ...requestOf(options),
        // A number: of the string "2" dockerode makes a session of its own.
        ...session ? { version: 2, session: session.id, buildid: buildId } : { forcerm: true },
        abortSignal
      }),
      { signal }
    );
    return await follow(body, progress, options.onLine);
  } catch (error) {
    if (signal.aborted && session) await cancel(connection, buildId);
    signal.throwIfAborted();
    throw engineFault("building the image", connection.socketPath, error);
  } finally {
    session?.close();
    context.destroy();
    cache.claim();
  }
}
function requestOf({
  tag,
  dockerfile,
  buildArgs,
  labels,
  noCache,
  target
}) {
  return {
    t: tag,
    dockerfile,
    buildargs: JSON.stringify(buildArgs ?? {}),
    labels: JSON.stringify(labels ?? {}),
    nocache: noCache ?? false,
    rm: true,
    ...target ? { target } : {}
  };
}
async function follow(body, progress, onLine) {
  let id = null;
  let fault = null;
  let emptyTraces = 0;
  try {
    for await (const value of jsonLines(body)) {
      const aux = value.aux;
      if (typeof value.error === "string") fault = value.error;
      else if (typeof value.stream === "string")
        for (const line of linesOf(value.stream)) onLine(line, "stdout");
      else if (typeof aux === "object" && aux.ID) id = aux.ID;
      else if (value.id === "moby.buildkit.trace" && typeof aux === "string") {
        emptyTraces = aux === "" ? emptyTraces + 1 : 0;
        if (aux !== "") progress.read(Buffer.from(aux, "base64"));
        if (emptyTraces >= EMPTY_TRACES_AFTER_END && (id !== null || fault !== null)) break;
      }
    }
  } finally {
    body.destroy();
    progress.end();
  }
  if (fault !== null)
    throw new AppError(
      "build_failed",
      [explainBuild(fault, progress.failed), ...progress.lastLines].join("\n"),
      { cause: fault }
    );
  if (id === null) throw new EngineAway("the container engine went away during the build: deploy again");
  return id;
}
function linesOf(text) {
  if (text.startsWith("Successfully tagged ")) return [];
  const lines = text.replace(/\n$/, "").split(/\r?\n/);
  return lines.length === 1 && lines[0] === "" ? [] : lines;
}
async function cancel(connection, buildId) {
  const path = `/build/cancel?id=${buildId}`;
  const signal = AbortSignal.timeout(CANCEL_TIMEOUT_MS);
  await connection.dial("canceling the build", { method: "POST", path, signal }).catch(() => {
  });
}

class Images {
  #connection;
  #serverId;
  #ledger;
  #cache;
  constructor(connection, serverId, ledger, cache) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
    this.#cache = cache;
  }
  /**
   * Pulls an image from its registry. Returns its id and its digest there. Throws `invalid_request` for what is no
   * reference, `runtime_error` with the reason (which does not repeat the name), or the signal's reason.
   */
  async pull(reference, { credentials, signal, onLine }) {
    const parsed = parseReference(reference);
    const found = credentials === void 0 ? await registryCredentials(parsed.registry) : credentials;
    const wanted = withTag(parsed);
    const fromImage = formatReference(
      wanted.digest === null ? { ...wanted, tag: null } : { ...wanted, tag: null, digest: null }
    );
    const tag = wanted.digest ?? wanted.tag;
    const name = formatReference(wanted);
    const isOwn = await this.#isOwnToPull(name);
    const body = await this.#connection.call(
      "pulling the image",
      (docker, abortSignal) => docker.createImage({
        fromImage,
        tag,
        ...found ? { authconfig: authOf(found) } : {},
        abortSignal
      }),
      { signal }
    ).catch((error) => {
      throw withoutPrefix(error, "pulling the image: ");
    });
    await this.#followPull(body, onLine, signal);
    const image = await this.inspect(name);
    if (!image)
      throw new AppError("runtime_error", "the engine does not have it after the pull: deploy again");
    if (isOwn) this.#ledger.record("image", name, image.id);
    const from = `${shortName(fromImage)}@`;
    const digest = image.digests.map(shortName).find((one) => one.startsWith(from));
    return { id: image.id, digest: digest?.slice(from.length) ?? null };
  }
  /** What the engine knows of an image by id or reference; null when it does not have it. */
  async inspect(reference) {
    const found = await this.#connection.find(
      `looking at the image ${reference}`,
      (docker, abortSignal) => docker.getImage(reference).inspect({ abortSignal })
    );
    return found && infoOf(found);
  }
  /** Builds an image from a tar stream and returns its id. Throws `build_failed`, `runtime_error` or the signal's reason. */
  build(context, options) {
    this.#ledger.record("image", options.tag);
    const labels = imageLabels(this.#serverId, options.labels);
    return buildImage(this.#connection, this.#cache, context, { ...options, labels });
  }
  /** Gives an image a further name, `repository:tag`. */
  async tag(id, name) {
    const colon = name.lastIndexOf(":");
    this.#ledger.record("image", name);
    await this.#connection.call(
      `naming the image ${name}`,
      (docker, abortSignal) => docker.getImage(id).tag({ repo: name.slice(0, colon), tag: name.slice(colon + 1), abortSignal })
    );
  }
  /**
   * Takes a name that this server gave or pulled from an image; layers that nothing else needs go with the last one. A
   * missing one is fine. Throws `runtime_error` while a container needs it.
   */
  async remove(name) {
    const recorded = this.#ledger.find("image", name);
    if (!recorded) {
      if (!await this.inspect(name)) return;
      throw new AppError("runtime_error", `the image ${name} was not made by this server and is left alone`);
    }
    if (recorded.engine_id !== null && (await this.inspect(name))?.id !== recorded.engine_id)
      return this.#ledger.forget("image", name);
    await this.#connection.call(`removing the image ${name}`, async (docker, abortSignal) => {
      try {
        await docker.getImage(name).remove({ abortSignal });
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
      }
    });
    this.#ledger.forget("image", name);
  }
  /** The names that this server gave to images; the empty one of its trials comes and goes with them. */
  names() {
    const trial = trialImage(this.#serverId);
    return this.#ledger.list("image").flatMap(({ name, engine_id }) => name === trial || engine_id !== null ? [] : [name]);
  }
  /** The names that came to this host with this server's pulls; `except` are references as people write them. */
  pulled({ except }) {
    const kept = new Set(except.map((reference) => formatReference(withTag(parseReference(reference)))));
    return this.#ledger.list("image").flatMap(({ name, engine_id }) => engine_id === null || kept.has(name) ? [] : [name]);
  }
  /** Whether a name that is about to be pulled is this server's: it was not there, or as an earlier pull left it. */
  async #isOwnToPull(name) {
    const image = await this.inspect(name);
    return image === null || image.id === this.#ledger.find("image", name)?.engine_id;
  }
  async #followPull(body, onLine, signal) {
    try {
      for await (const value of jsonLines(body)) {
        if (typeof value.error === "string")
          throw new AppError("runtime_error", explain(value.error), { cause: value.error });
        const line = progressLine(value);
        if (line) onLine(line);
      }
    } catch (error) {
      signal.throwIfAborted();
      throw engineFault("pulling the image", this.#connection.socketPath, error);
    } finally {
      body.destroy();
    }
  }
}
const PASSING = /^(Pulling fs layer|Waiting|Downloading|Extracting|Verifying Checksum|Download complete)/;
function progressLine({ status, id }) {
  if (typeof status !== "string" || PASSING.test(status)) return null;
  return typeof id === "string" && /^[0-9a-f]{12}$/.test(id) ? `${id}: ${status}` : status;
}
function withTag(reference) {
  return { ...reference, tag: reference.tag ?? (reference.digest === null ? "latest" : null) };
}
function authOf({ username, password, identityToken }) {
  return identityToken === void 0 ? { username, password } : { identitytoken: identityToken };
}
function shortName(name) {
  return name.replace(/^(?:docker\.io\/(?:library\/)?|localhost\/)/, "");
}
function withoutPrefix(error, prefix) {
  if (!(error instanceof AppError) || !error.message.startsWith(prefix)) return error;
  return new AppError(error.code, error.message.slice(prefix.length), { cause: error.cause });
}
function infoOf(found) {
  const config = found.Config ?? {};
  const ports = Object.keys(config.ExposedPorts ?? {}).flatMap((port) => {
    const [number, protocol] = port.split("/");
    return protocol === void 0 || protocol === "tcp" ? [Number(number)] : [];
  });
  return {
    id: found.Id,
    tags: (found.RepoTags ?? []).map(shortName),
    digests: found.RepoDigests ?? [],
    exposedPorts: ports.sort((a, b) => a - b),
    user: config.User ?? "",
    cmd: config.Cmd ?? [],
    entrypoint: typeof config.Entrypoint === "string" ? [config.Entrypoint] : config.Entrypoint ?? [],
    env: config.Env ?? [],
    workdir: config.WorkingDir ?? "",
    os: found.Os,
    architecture: found.Architecture,
    labels: config.Labels ?? {},
    sizeBytes: found.Size
  };
}

const ROOT = "/sys/fs/cgroup";
const PERIOD_US = 1e5;
const BUILD_LIMITS = ["memory", "CPU", "processes"];
function limitBuilds(limits) {
  if (process.getuid?.() !== 0) return [...BUILD_LIMITS];
  const isUnified = existsSync(join(ROOT, "cgroup.controllers"));
  const settings = isUnified ? unified(limits) : legacy(limits);
  return BUILD_LIMITS.filter((name) => {
    const { controller, files } = settings[name];
    try {
      const group = isUnified ? enable(controller) : groupOf(controller);
      if (group === null) return true;
      for (const [file, value] of files) writeFileSync(join(group, file), value);
      return false;
    } catch {
      return true;
    }
  });
}
function legacy({ memoryBytes, cpus, pids }) {
  const cpu = [
    ["cpu.cfs_period_us", String(PERIOD_US)],
    ["cpu.cfs_quota_us", String(Math.round(cpus * PERIOD_US))]
  ];
  return {
    memory: { controller: "memory", files: [["memory.limit_in_bytes", String(memoryBytes)]] },
    CPU: { controller: "cpu", files: cpu },
    processes: { controller: "pids", files: [["pids.max", String(pids)]] }
  };
}
function unified({ memoryBytes, cpus, pids }) {
  const quota = `${Math.round(cpus * PERIOD_US)} ${PERIOD_US}`;
  return {
    memory: { controller: "memory", files: [["memory.max", String(memoryBytes)]] },
    CPU: { controller: "cpu", files: [["cpu.max", quota]] },
    processes: { controller: "pids", files: [["pids.max", String(pids)]] }
  };
}
function groupOf(controller) {
  if (!existsSync(join(ROOT, controller))) return null;
  const path = join(ROOT, controller, "docker", "buildkit");
  mkdirSync(path, { recursive: true });
  return path;
}
function enable(controller) {
  const group = join(ROOT, "docker", "buildkit");
  mkdirSync(group, { recursive: true });
  for (const parent of [ROOT, join(ROOT, "docker")]) {
    const file = join(parent, "cgroup.subtree_control");
    if (!readFileSync(file, "utf8").split(/\s+/).includes(controller)) writeFileSync(file, `+${controller}`);
  }
  return group;
}

class Networks {
  #connection;
  #serverId;
  #ledger;
  constructor(connection, serverId, ledger) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
  }
  /** Makes a bridge network and returns its id. Throws `runtime_error`, also when the name or the addresses are taken. */
  async create(spec) {
    this.#ledger.record("network", spec.name);
    const network = await this.#connection.call(
      `creating the network ${spec.name}`,
      (docker, abortSignal) => docker.createNetwork({
        Name: spec.name,
        Driver: "bridge",
        CheckDuplicate: true,
        Internal: spec.internal ?? false,
        Labels: ownLabels(this.#serverId, spec.labels),
        IPAM: {
          Driver: "default",
          Config: [{ Subnet: spec.subnet, ...spec.gateway ? { Gateway: spec.gateway } : {} }]
        },
        abortSignal
      })
    );
    this.#ledger.record("network", spec.name, network.id);
    return network.id;
  }
  /** A network by id or name; null when there is none. */
  async inspect(nameOrId) {
    const found = await this.#connection.find(
      `looking at the network ${nameOrId}`,
      (docker, abortSignal) => docker.getNetwork(nameOrId).inspect({ abortSignal })
    );
    return found && stateOf(found);
  }
  /** All networks of the engine, those of others too: their addresses are taken. */
  async list() {
    const found = await this.#connection.call(
      "listing networks",
      (docker, abortSignal) => docker.listNetworks({ abortSignal })
    );
    return found.map(stateOf);
  }
  /** The names of the networks that this server has made. */
  names() {
    return this.#ledger.list("network").map(({ name }) => name);
  }
  /** Removes one of this server's networks. One that is not there is fine. Throws `runtime_error` while containers are in it. */
  async remove(name) {
    const recorded = this.#ledger.find("network", name);
    const found = await this.inspect(name);
    const isOwn = found && (recorded?.engine_id === found.id || isLabelled(this.#serverId, found.labels));
    if (!found || recorded && recorded.engine_id !== null && !isOwn)
      return this.#ledger.forget("network", name);
    if (!recorded || !isOwn) {
      throw new AppError(
        "runtime_error",
        `the network ${found.name} was not made by this server and is left alone`
      );
    }
    const [first] = found.containers;
    if (first)
      throw new AppError(
        "runtime_error",
        `the network ${found.name} is in use by the container ${first.name}`
      );
    await this.#connection.call(`removing the network ${found.name}`, async (docker, abortSignal) => {
      try {
        await docker.getNetwork(found.id).remove({ abortSignal });
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
      }
    });
    this.#ledger.forget("network", name);
  }
}
function stateOf(found) {
  const v4 = found.IPAM?.Config?.find(({ Subnet }) => Subnet?.includes("."));
  const containers = Object.entries(found.Containers ?? {});
  return {
    id: found.Id,
    name: found.Name,
    driver: found.Driver,
    subnet: v4?.Subnet ?? null,
    gateway: v4?.Gateway ?? null,
    internal: found.Internal,
    labels: found.Labels ?? {},
    containers: containers.map(([id, { Name, IPv4Address }]) => ({
      id,
      name: Name,
      address: IPv4Address.split("/")[0]
    }))
  };
}

const UNIFIED = "unified";
const NANOSECONDS = 1e9;
const MICROSECONDS = 1e6;
async function findControlGroup(pid, containerId) {
  try {
    const [groups, mounts] = await Promise.all([
      readFile(`/proc/${pid}/cgroup`, "utf8"),
      readFile("/proc/self/mountinfo", "utf8")
    ]);
    const group = controlGroupIn(groups, hierarchiesIn(mounts), containerId);
    if (group) await readControlGroup(group);
    return group;
  } catch {
    return null;
  }
}
async function readControlGroup(group) {
  const [cpu, memory, memoryStat] = await Promise.all(
    [group.cpu, group.memory, group.memoryStat].map((path) => readFile(path, "utf8"))
  );
  return group.read(cpu, memory, memoryStat);
}
function hierarchiesIn(mountinfo) {
  const hierarchies = /* @__PURE__ */ new Map();
  for (const line of mountinfo.split("\n")) {
    const [left, right] = line.split(" - ");
    const [, , , root, mountPoint] = (left ?? "").split(" ");
    const [type, , options] = (right ?? "").split(" ");
    if (root !== "/" || mountPoint === void 0) continue;
    if (type === "cgroup2") hierarchies.set(UNIFIED, mountPoint);
    if (type === "cgroup")
      for (const option of (options ?? "").split(",")) hierarchies.set(option, mountPoint);
  }
  return hierarchies;
}
function controlGroupIn(groups, hierarchies, containerId) {
  const folderOf = (controller) => folderIn(groups, hierarchies, controller, containerId);
  const accounting = folderOf("cpuacct");
  const memory = folderOf("memory");
  if (accounting && memory) {
    return {
      cpu: `${accounting}/cpuacct.usage`,
      memory: `${memory}/memory.usage_in_bytes`,
      memoryStat: `${memory}/memory.stat`,
      read: (cpu, usage, stat) => ({
        cpuSeconds: Number(cpu) / NANOSECONDS,
        memoryBytes: withoutCache(Number(usage), valueOf(stat, "total_inactive_file"))
      })
    };
  }
  const unified = folderOf("");
  if (!unified) return null;
  return {
    cpu: `${unified}/cpu.stat`,
    memory: `${unified}/memory.current`,
    memoryStat: `${unified}/memory.stat`,
    read: (cpu, usage, stat) => ({
      cpuSeconds: valueOf(cpu, "usage_usec") / MICROSECONDS,
      memoryBytes: withoutCache(Number(usage), valueOf(stat, "inactive_file"))
    })
  };
}
function withoutCache(usage, inactiveFile) {
  return inactiveFile < usage ? usage - inactiveFile : usage;
}
function folderIn(groups, hierarchies, controller, containerId) {
  const mountPoint = hierarchies.get(controller === "" ? UNIFIED : controller);
  if (mountPoint === void 0) return null;
  for (const line of groups.split("\n")) {
    const [, controllers = "", path = ""] = line.split(":");
    if (!controllers.split(",").includes(controller)) continue;
    const segments = path.split("/");
    const own = segments.findIndex((segment) => segment.includes(containerId));
    return own === -1 ? null : mountPoint + segments.slice(0, own + 1).join("/");
  }
  return null;
}
function valueOf(stat, name) {
  const line = stat.split("\n").find((candidate) => candidate.startsWith(`${name} `));
  return Number(line?.slice(name.length + 1) ?? 0);
}

const NANO = 1e9;
class Usages {
  #connection;
  #serverId;
  #ledger;
  #known = /* @__PURE__ */ new Map();
  constructor(connection, serverId, ledger) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
  }
  /** The containers that run. Throws `runtime_error` when the engine does not answer in `timeoutMs`. */
  async running(timeoutMs) {
    const filters = { label: labelFilter(this.#serverId), status: ["running", "paused"] };
    const found = await this.#connection.call(
      "listing the containers that run",
      (docker, abortSignal) => docker.listContainers({ filters, abortSignal }),
      { timeoutMs }
    );
    const names = new Map(this.#ledger.list("container").map(({ engine_id, name }) => [engine_id, name]));
    const running = found.flatMap(({ Id }) => {
      const name = names.get(Id);
      return name === void 0 ? [] : [{ id: Id, name }];
    });
    const ids = new Set(running.map(({ id }) => id));
    for (const id of this.#known.keys()) if (!ids.has(id)) this.#known.delete(id);
    return running;
  }
  /**
   * What a container uses; null when it has ended. Throws `runtime_error` when the engine does not answer in time, or
   * the signal's reason.
   */
  async read({ id, name }, limits) {
    const known = this.#known.get(id) ?? await this.#look(id, name, limits);
    if (!known) return null;
    const { group, cpuLimit, memoryLimitBytes } = known;
    const usage = await (group ? readControlGroup(group).catch(nullWhenGone) : this.#ask(id, name, limits));
    return usage && { ...usage, cpuLimit, memoryLimitBytes };
  }
  async #look(id, name, limits) {
    const found = await this.#connection.find(
      `looking at the container ${name}`,
      (docker, abortSignal) => docker.getContainer(id).inspect({ abortSignal }),
      limits
    );
    if (!found?.State.Running) return null;
    const { Memory, NanoCpus, CpuQuota, CpuPeriod } = found.HostConfig;
    const known = {
      group: await findControlGroup(found.State.Pid, id),
      // Podman tells what it made of them.
      cpuLimit: NanoCpus ? NanoCpus / NANO : CpuQuota && CpuPeriod ? CpuQuota / CpuPeriod : null,
      memoryLimitBytes: Memory || null
    };
    this.#known.set(id, known);
    return known;
  }
  /** One shot: the engine does not wait for a second look. */
  async #ask(id, name, limits) {
    try {
      const { cpu_stats, memory_stats } = await this.#connection.call(
        `measuring ${name}`,
        (docker, abortSignal) => docker.getContainer(id).stats({ stream: false, "one-shot": true, abortSignal }),
        limits
      );
      if (!cpu_stats.system_cpu_usage || memory_stats.usage === void 0) return null;
      const cache = memory_stats.stats;
      return {
        cpuSeconds: cpu_stats.cpu_usage.total_usage / NANO,
        memoryBytes: withoutCache(
          memory_stats.usage,
          cache?.total_inactive_file ?? cache?.inactive_file ?? 0
        )
      };
    } catch (error) {
      if (error instanceof AppError && [404, 409].includes(statusOf(error.cause) ?? 0)) return null;
      throw error;
    }
  }
}
function nullWhenGone(error) {
  const { code } = error;
  if (code === "ENOENT" || code === "ENODEV") return null;
  throw error;
}

class Volumes {
  #connection;
  #serverId;
  #ledger;
  constructor(connection, serverId, ledger) {
    this.#connection = connection;
    this.#serverId = serverId;
    this.#ledger = ledger;
  }
  /** Makes a volume; one of this name that is already there stays as it is. Throws `runtime_error`. */
  async create(name, labels) {
    this.#ledger.record("volume", name);
    await this.#connection.call(
      `creating the volume ${name}`,
      (docker, abortSignal) => docker.createVolume({ Name: name, Labels: ownLabels(this.#serverId, labels), abortSignal })
    );
  }
  /** A volume by name; null when there is none. */
  async inspect(name) {
    const found = await this.#connection.find(
      `looking at the volume ${name}`,
      (docker, abortSignal) => docker.getVolume(name).inspect({ abortSignal })
    );
    return found && { name: found.Name, labels: found.Labels ?? {} };
  }
  /** Removes one of this server's volumes with what is in it. One that is not there is fine. Throws `runtime_error` while it is used. */
  async remove(name) {
    const found = await this.inspect(name);
    if (!found) return this.#ledger.forget("volume", name);
    if (!this.#ledger.find("volume", name)) {
      throw new AppError("runtime_error", `the volume ${name} was not made by this server and is left alone`);
    }
    await this.#connection.call(`removing the volume ${name}`, async (docker, abortSignal) => {
      try {
        await docker.getVolume(name).remove({ abortSignal });
      } catch (error) {
        if (statusOf(error) !== 404) throw error;
      }
    });
    this.#ledger.forget("volume", name);
  }
}

const ANSWER_TIMEOUT_MS = 5e3;
function createEngine({ dockerHost, serverId, ledger }) {
  const connection = new Connection(dockerHost);
  const cache = new BuildCache(connection, ledger);
  let canBoundBuilds = false;
  return {
    socketPath: connection.socketPath,
    containers: new Containers(connection, serverId, ledger, new AbilityTrial(connection, serverId, ledger)),
    output: new ContainerOutput(connection, serverId, ledger),
    usages: new Usages(connection, serverId, ledger),
    images: new Images(connection, serverId, ledger, cache),
    networks: new Networks(connection, serverId, ledger),
    volumes: new Volumes(connection, serverId, ledger),
    info: async () => {
      const { driver, ...info } = await readInfo(connection);
      canBoundBuilds = info.name === "docker" && driver === "cgroupfs" && !info.rootless;
      return info;
    },
    answers: () => connection.answers(ANSWER_TIMEOUT_MS),
    events: (signal) => engineEvents(connection, serverId, signal),
    shrinkBuildCache: (maxBytes) => cache.shrink(maxBytes),
    limitBuilds: (limits) => canBoundBuilds ? limitBuilds(limits) : [...BUILD_LIMITS]
  };
}
async function readInfo(connection) {
  const met = await connection.meet(ANSWER_TIMEOUT_MS);
  const info = await connection.dial("asking the engine for its host", {
    method: "GET",
    path: "/info",
    timeoutMs: ANSWER_TIMEOUT_MS
  });
  return {
    ...met,
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    cgroupVersion: info.CgroupVersion?.replace("v", "") ?? "1",
    rootless: info.SecurityOptions?.some((option) => option.includes("rootless")) ?? false,
    dataRoot: info.DockerRootDir ?? "",
    driver: info.CgroupDriver ?? ""
  };
}

async function runEach(steps) {
  const failures = [];
  for (const step of steps) await step().catch((error) => failures.push(error));
  if (failures.length === 1) throw failures[0];
  if (failures.length > 1)
    throw new AggregateError(failures, [...new Set(failures.map(messageOf))].join("; "));
}

export { isEngineAway as a, ledger as b, createEngine as c, isSubnetTaken as i, ledgerOf as l, runEach as r };
