import { p as parseRepositoryUrl, f as formatRepositoryUrl, s as splitCredentials, u as usualPort, r as repositoryUrlFault } from './url.mjs';
import { join, posix, relative } from 'node:path';
import { B as BuildFailure, L as LINK_TREE, b as READ_POINTERS, w as withReader, W as WRITE_OBJECTS, c as Reader, R as REMOVE_TREE } from './jobs.mjs';
import { M as MAX_SUBMODULES, T as TOO_MANY_SUBMODULES, i as isTooLarge, a as TOO_LARGE, O as Overfull, w as withinSize, f as fetchCommit, b as fetchById } from './size-watch.mjs';
import { i as isPathTooLong, P as PATH_TOO_LONG, r as removeTree, c as clearTree, e as runAt, O as OWN_CONFIGS, f as OWN_HEAD, R as RemoteFault, G as GitError, g as lastWords, h as admit, o as outboundProxy, w as withRemote, d as Repository, l as listRefs, j as isBelow } from './branches.mjs';
import { Readable } from 'node:stream';
import { z } from 'zod';
import { p as parsedJson } from './serving.mjs';
import { fetch, ProxyAgent, Agent, buildConnector } from 'undici';
import { k as PRIVATE_DIRECTORY_MODE, q as randomHex, m as messageOf, H as sha256, J as useContext, j as makePrivateDirectory } from '../nitro/nitro.mjs';
import { a as assertPlace, r as resolveJudged, F as ForbiddenPlace, j as judgedLookup } from './judged.mjs';
import { V as VERSION } from './version.mjs';
import { readFileSync, existsSync, renameSync, utimesSync } from 'node:fs';
import { createHash, randomUUID } from 'node:crypto';
import { readFile, rename, mkdir, writeFile, stat, readdir, rm, open, statfs, realpath } from 'node:fs/promises';
import { constants } from 'node:os';
import { S as Slots } from './slots.mjs';

const FOLDER = "040000";
const LINK = "120000";
const COMMIT = "160000";
const ENTRY = /^(\d+) \S+ ([0-9a-f]+) +(\d+|-)\t(.*)$/s;
const MAX_PATHS_CHARACTERS$1 = 128 * 1024 * 1024;
const MAX_SETTINGS_BYTES = 256 * 1024;
async function judgeTree(repository, sha, used) {
  const judged = {
    sha,
    bytes: 0,
    files: 0,
    folders: 0,
    attributes: null,
    submodules: [],
    hasModules: false,
    hasLfsConfiguration: false
  };
  const attributes = createHash("sha256");
  let characters = 0;
  const onEntry = (line) => {
    const [, mode = "", object = "", size, path = ""] = ENTRY.exec(line) ?? [];
    characters += path.length;
    if (isPathTooLong(path) || characters > MAX_PATHS_CHARACTERS$1) throw new BuildFailure(PATH_TOO_LONG);
    if (mode === COMMIT) judged.submodules.push({ path, sha: object });
    else if (mode === FOLDER) judged.folders += 1;
    else judged.files += 1;
    judged.bytes += Number(size) || 0;
    if (judged.submodules.length > MAX_SUBMODULES) throw new BuildFailure(TOO_MANY_SUBMODULES);
    const { bytes, files } = useOf(judged);
    if (isTooLarge(used.bytes + bytes, used.files + files)) throw new BuildFailure(TOO_LARGE);
    if (mode === FOLDER || mode === COMMIT) return;
    if (/(^|\/)\.gitattributes$/.test(path)) {
      attributes.update(`${mode} ${object} ${path}\0`);
      judged.attributes = "";
    }
    if (mode === LINK || !/^\.(gitmodules|lfsconfig)$/.test(path)) return;
    if (Number(size) > MAX_SETTINGS_BYTES)
      throw new BuildFailure(`${path} has more than ${MAX_SETTINGS_BYTES / 1024} KiB: make it smaller`);
    judged.hasModules ||= path === ".gitmodules";
    judged.hasLfsConfiguration ||= path === ".lfsconfig";
  };
  await repository.git(["ls-tree", "-r", "-t", "-l", "-z", "--full-tree", sha], onEntry, "\0");
  if (judged.attributes !== null) judged.attributes = attributes.digest("hex");
  return judged;
}
function useOf({ bytes, files, folders, submodules }) {
  return { bytes, files: files + folders + submodules.length };
}

const KEPT_TREE = "tree";
const WRITING = "tree.writing";
const Facts = z.object({
  /** Of the host's run in which it was written: what the next finds may never have come to the disk. */
  run: z.string(),
  /** What wrote it, and with which rights: git does not look at those of a file that is there. */
  writer: z.string(),
  attributes: z.string().nullable(),
  bytes: z.number(),
  files: z.number()
});
const UMASK = process.umask();
let gitVersion = null;
const HOST_RUN = readHostRun();
const SETTINGS$1 = ["-c", "core.trustctime=false"];
class KeptTree {
  #repository;
  #signal;
  constructor(repository, signal) {
    this.#repository = repository;
    this.#signal = signal;
  }
  /** Lays out a commit of the repository; a tree that is not as git left it, or not to be used, is written anew. Throws GitError. */
  async layOut(judged, place, usesKept) {
    if (usesKept && await this.#hasUseFor(judged) && await this.#layOutKept(judged, place)) return;
    for (const name of [KEPT_TREE, WRITING]) await removeTree(this.#path(name));
    await this.#bringTo(judged);
    await this.#link(place);
  }
  /** Runs git in it and answers what it wrote, unless `onLine` takes that. Throws GitError. */
  git(command, onLine, end) {
    return this.#gitIn(KEPT_TREE, command, onLine, end);
  }
  /** git leaves what has not changed as it is, also where it would write it in another way now. */
  async #hasUseFor({ attributes }) {
    const facts = await readFacts(this.#repository.directory);
    if (facts === null || facts.run !== HOST_RUN || facts.attributes !== attributes) return false;
    return facts.writer === await this.#writer();
  }
  /** Whether the tree that is kept could be made use of. Whatever is wrong with it, another is written. */
  async #layOutKept(judged, place) {
    try {
      await this.#bringTo(judged);
      return await this.#link(place) === judged.files;
    } catch (error) {
      if (error instanceof BuildFailure || this.#signal.aborted) throw error;
      return false;
    }
  }
  async #writer() {
    gitVersion ??= (await this.#repository.git(["version"])).trim();
    return [VERSION, gitVersion, UMASK.toString(8)].join(", ");
  }
  async #bringTo(judged) {
    const { sha, attributes } = judged;
    const [tree, writing] = [this.#path(KEPT_TREE), this.#path(WRITING)];
    if (existsSync(tree)) await rename(tree, writing);
    else await mkdir(join(writing, "files"), { recursive: true, mode: PRIVATE_DIRECTORY_MODE });
    try {
      await this.#gitIn(WRITING, ["read-tree", "--reset", "-u", sha]);
      const facts = {
        run: HOST_RUN,
        writer: await this.#writer(),
        attributes,
        ...useOf(judged)
      };
      await writeFile(join(writing, "facts.json"), JSON.stringify(facts));
    } catch (error) {
      await clearTree(writing);
      throw error;
    }
    await rename(writing, tree);
  }
  #link({ reader, root, folder }) {
    return reader.ask(LINK_TREE, { from: join(this.#path(KEPT_TREE), "files"), root, folder });
  }
  #gitIn(name, command, onLine, end) {
    const { directory, remote } = this.#repository;
    const files = join(this.#path(name), "files");
    const place = [...SETTINGS$1, "-C", files, `--git-dir=${directory}`, `--work-tree=${files}`];
    const environment = { ...remote.environment, GIT_INDEX_FILE: join(this.#path(name), "index") };
    return runAt(place, { ...remote, environment }, command, onLine, end);
  }
  #path(name) {
    return join(this.#repository.directory, name);
  }
}
async function sizeOfKeptTree(mirror) {
  return await readFacts(mirror);
}
async function halfTreesOf(mirror) {
  const names = await readFacts(mirror) === null ? [KEPT_TREE, WRITING] : [WRITING];
  return names.map((name) => join(mirror, name));
}
async function readFacts(mirror) {
  const text = await readFile(join(mirror, KEPT_TREE, "facts.json"), "utf8").catch(() => "");
  return Facts.safeParse(parsedJson(text)).data ?? null;
}
function readHostRun() {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return randomUUID();
  }
}

const MAX_PACKS = 24;
const ITS_OWN = [
  [".", /^(HEAD|config|shallow|objects|refs|tree)$/],
  ["refs", /^deployer$/],
  ["refs/deployer", /^[0-9a-f]$/],
  ["objects", /^pack$/]
];
const SHA1_BYTES = 20;
const LONGEST_CHECKSUM_BYTES = 32;
const PACK = /^(pack-[0-9a-f]+)\.(pack|idx|rev)$/;
async function putInOrder(mirror) {
  if (!await isOurs(mirror)) return null;
  const strays = [];
  for (const [folder, names] of ITS_OWN)
    for (const name of await list(mirror, folder)) if (!names.test(name)) strays.push(join(folder, name));
  const packs = await list(mirror, "objects/pack");
  const isWhole = (name) => {
    const base = PACK.exec(name)?.[1];
    return packs.includes(`${base}.pack`) && packs.includes(`${base}.idx`);
  };
  strays.push(...packs.filter((name) => !isWhole(name)).map((name) => join("objects/pack", name)));
  for (const stray of strays) {
    const path = join(mirror, stray);
    if (stray.startsWith(KEPT_TREE)) await removeTree(path);
    else await rm(path, { recursive: true, force: true });
  }
  const whole = packs.filter((name) => name.endsWith(".pack") && isWhole(name));
  for (const name of whole) if (!await isSealed(join(mirror, "objects/pack", name))) return null;
  return strays.length;
}
async function isSealed(pack) {
  const index = await readEnd(pack.replace(/pack$/, "idx"), 2 * LONGEST_CHECKSUM_BYTES);
  const end = await readEnd(pack, LONGEST_CHECKSUM_BYTES);
  return [SHA1_BYTES, LONGEST_CHECKSUM_BYTES].some((length) => {
    const told = index.subarray(index.length - 2 * length, index.length - length);
    return told.length === length && told.equals(end.subarray(end.length - length));
  });
}
async function readEnd(path, most) {
  const file = await open(path);
  try {
    const { size } = await file.stat();
    const length = Math.min(size, most);
    const { buffer } = await file.read({ buffer: Buffer.alloc(length), position: size - length });
    return buffer;
  } finally {
    await file.close();
  }
}
async function joinPacks(mirror) {
  const packs = (await list(mirror.directory, "objects/pack")).filter((name) => name.endsWith(".pack"));
  if (packs.length > MAX_PACKS) await mirror.git(["repack", "-a", "-d", "-n", "--quiet", "--window=0"]);
}
async function sizeOfMirror(mirror) {
  const folder = join(mirror, "objects/pack");
  let bytes = 0;
  for (const name of await list(mirror, "objects/pack"))
    bytes += (await stat(join(folder, name)).catch(() => null))?.size ?? 0;
  return bytes;
}
async function isOurs(mirror) {
  const read = (name) => readFile(join(mirror, name), "utf8").catch(() => "");
  const config = await read("config");
  return Object.values(OWN_CONFIGS).includes(config) && await read("HEAD") === OWN_HEAD;
}
async function list(mirror, folder) {
  return await readdir(join(mirror, folder)).catch(() => []);
}

const MIRRORS_BYTES = 10 * 1024 ** 3;
const MIRRORS_SHARE = 0.1;
const TREES_BYTES = 5 * 1024 ** 3;
const TREES_SHARE = 0.05;
const TREES_FILES = 1e6;
const BLOCK_BYTES = 4096;
const MAX_MIRRORS = 1e3;
const KEPT_MS = 30 * 24 * 36e5;
const KILLED = 128 + constants.signals.SIGKILL;
const LEAVING = ".leaving";
const LEAVING_BYTES = 4;
const turns = /* @__PURE__ */ new Map();
async function withMirror(use) {
  const { directory, signal, onLine } = use;
  const turn = turns.get(directory) ?? { slots: new Slots(1), users: 0 };
  turns.set(directory, turn);
  turn.users += 1;
  if (turn.slots.isFull) onLine("waiting for another deploy that fetches the same repository");
  try {
    return await turn.slots.run(() => workWith(use), signal);
  } finally {
    turn.users -= 1;
    if (turn.users === 0) turns.delete(directory);
  }
}
async function workWith({ directory, onLine, work }) {
  if (existsSync(directory)) {
    const removed = await putInOrder(directory);
    if (removed) onLine("the mirror of the repository was put in order: its last use had been cut off");
    if (removed === null) onLine(anew("is damaged"));
    else {
      try {
        const made = await work();
        utimesSync(directory, /* @__PURE__ */ new Date(), /* @__PURE__ */ new Date());
        return made;
      } catch (error) {
        const reason = reasonToRemake(error);
        if (reason === null) throw error;
        onLine(anew(reason));
      }
    }
    await removeTree(directory);
  }
  try {
    return await work();
  } catch (error) {
    await removeTree(directory);
    throw error;
  }
}
function anew(reason) {
  return `the mirror of the repository ${reason}: fetching all of it`;
}
function reasonToRemake(error) {
  if (error instanceof Overfull) return "has grown too large";
  if (!(error instanceof RemoteFault) || error.kind !== "unknown") return null;
  const { cause } = error;
  if (!(cause instanceof GitError) || typeof cause.code !== "number" || cause.code === KILLED) return null;
  return `is damaged (${lastWords(cause)})`;
}
async function trimMirrors(folder) {
  const { blocks, bsize, files } = await statfs(folder);
  let room = Math.min(MIRRORS_BYTES, blocks * bsize * MIRRORS_SHARE);
  const trees = {
    bytes: Math.min(TREES_BYTES, blocks * bsize * TREES_SHARE),
    // Some make inodes as they are needed, and say 0.
    files: files === 0 ? TREES_FILES : Math.min(TREES_FILES, files * TREES_SHARE)
  };
  let kept = 0;
  for (const { path, usedAt, bytes } of await listMirrors(folder)) {
    const isWanted = usedAt > Date.now() - KEPT_MS && kept < MAX_MIRRORS && bytes <= room;
    if (!isWanted && !turns.has(path)) {
      await removeAside(path, path);
      continue;
    }
    room -= bytes;
    kept += 1;
    for (const half of await halfTreesOf(path)) if (!turns.has(path)) await removeAside(half, path);
    const tree = await sizeOfKeptTree(path);
    if (tree === null) continue;
    trees.bytes -= tree.bytes + tree.files * BLOCK_BYTES;
    trees.files -= tree.files;
    const hasRoom = trees.bytes >= 0 && trees.files >= 0;
    if (!hasRoom && !turns.has(path)) await removeAside(join(path, KEPT_TREE), path);
  }
}
async function listMirrors(folder) {
  const found = [];
  for (const name of await readdir(folder)) {
    const path = join(folder, name);
    const facts = await stat(path).catch(() => null);
    const usedAt = name.endsWith(LEAVING) ? 0 : facts?.mtimeMs;
    if (usedAt !== void 0) found.push({ path, usedAt, bytes: await sizeOfMirror(path) });
  }
  return found.sort((left, right) => right.usedAt - left.usedAt);
}
async function removeAside(path, name) {
  if (!existsSync(path)) return;
  const leaving = path.endsWith(LEAVING) ? path : `${name}.${randomHex(LEAVING_BYTES)}${LEAVING}`;
  if (leaving !== path) renameSync(path, leaving);
  await clearTree(leaving);
}

const CHOICE_SECONDS = 60;
const PACKING_CPU_SECONDS = 10 * 60;
const CHOOSE_RECIPE = {
  name: "choose-recipe",
  doing: "finding out how to build the source",
  limits: { cpuSeconds: CHOICE_SECONDS, seconds: 2 * CHOICE_SECONDS }
};
const PACK_CONTEXT = {
  name: "pack-context",
  doing: "packing the source for the build",
  // The engine may take its time to read it; the build's own time limit holds.
  limits: { cpuSeconds: PACKING_CPU_SECONDS, seconds: null }
};

const CONFIGURATION = ".lfsconfig";
const SETTINGS = ["lfs.url", "remote.origin.lfsurl"];
const Authentication = z.object({ href: z.string(), header: z.record(z.string(), z.string()).optional() });
async function configuredAddress(repository, judged) {
  if (!judged.hasLfsConfiguration) return null;
  for (const name of SETTINGS) {
    const [address] = await repository.settings(judged.sha, CONFIGURATION, ["--get", name]);
    if (address !== void 0) return address;
  }
  return null;
}
async function endpointOf(remote, configured) {
  if (configured !== null) return await endpointAt(remote, configured);
  const parsed = parseRepositoryUrl(remote.url);
  if (parsed.protocol === "ssh") return await endpointOverSsh(remote, parsed);
  const path = parsed.path.split("/").filter((part) => part !== "");
  const address = formatRepositoryUrl({ ...parsed, path: path.join("/") });
  return await endpointAt(remote, `${address.endsWith(".git") ? address : `${address}.git`}/info/lfs`);
}
const MAX_ANSWER_CHARACTERS = 64 * 1024;
async function endpointOverSsh(remote, { path, ...at }) {
  const answer = await remote.ssh({ ...at, path }, ["git-lfs-authenticate", path, "download"]);
  const told = Authentication.safeParse(answer.length > MAX_ANSWER_CHARACTERS ? null : parsedJson(answer));
  if (!told.success)
    throw new BuildFailure(
      `${remote.url} has no Git LFS over ssh: keep the files in git itself, or set lfs.url`
    );
  const { url } = await endpointAt(remote, told.data.href);
  return { url, header: told.data.header ?? {} };
}
async function endpointAt(remote, address) {
  const { url, username, password } = splitCredentials(address);
  const parsed = parseRepositoryUrl(address);
  if (parsed === null || !/^https?$/.test(parsed.protocol))
    throw new BuildFailure(
      `the Git LFS of ${remote.url} is at an address that is not taken: set lfs.url to http or https`
    );
  await admit(remote, parsed);
  const own = username === null && password === null ? remote.desk.credentialsAt(url) : { username, password };
  if (own === null) return { url, header: {} };
  const basic = Buffer.from(`${own.username ?? ""}:${own.password ?? ""}`).toString("base64");
  return { url, header: { authorization: `Basic ${basic}` } };
}

const MEDIA_TYPE = "application/vnd.git-lfs+json";
const BATCH_OBJECTS = 100;
const MAX_ANSWER_BYTES = 512 * 1024;
const CONNECT_MS = 2e4;
const SILENCE_MS = 6e4;
const MAX_REDIRECTS = 3;
const Told = z.object({
  oid: z.string(),
  actions: z.object({
    download: z.object({ href: z.string(), header: z.record(z.string(), z.string()).optional() })
  }).nullish().catch(null),
  error: z.object({ code: z.number(), message: z.string().catch("") }).nullish()
});
const Batch = z.object({ objects: z.array(z.unknown()).max(BATCH_OBJECTS) }).transform(({ objects }) => objects);
class LfsServer {
  #endpoint;
  #reach;
  #signal;
  #agents = /* @__PURE__ */ new Map();
  constructor(endpoint, reach, signal) {
    this.#endpoint = endpoint;
    this.#reach = reach;
    this.#signal = signal;
  }
  /** The bytes of objects, one after another in their order. Throws BuildFailure with what to do. */
  async *read(objects) {
    for (let from = 0; from < objects.length; from += BATCH_OBJECTS) {
      const some = objects.slice(from, from + BATCH_OBJECTS);
      const places = await this.#locate(some);
      for (const object of some) yield* this.#download(object, places.get(object.oid));
    }
  }
  /** Ends its connections. */
  async close() {
    await Promise.all([...this.#agents.values()].map((agent) => agent.destroy()));
  }
  async #locate(objects) {
    const body = JSON.stringify({
      operation: "download",
      transfers: ["basic"],
      objects: objects.map(({ oid, size }) => ({ oid, size })),
      hash_algo: "sha256"
    });
    const { url, header } = this.#endpoint;
    const headers = { ...header, accept: MEDIA_TYPE, "content-type": MEDIA_TYPE };
    const response = await this.#send(new URL(`${url}/objects/batch`), { method: "POST", body, headers });
    if (response.status !== 200) throw this.#refusal(response.status);
    const answer = Batch.pipe(z.array(Told)).safeParse(parsedJson(await this.#textOf(response)));
    if (!answer.success) throw this.#fault("does not answer as Git LFS does: is this its address?");
    const told = new Map(answer.data.map((object) => [object.oid, object]));
    return new Map(objects.map((object) => [object.oid, this.#placeOf(object, told.get(object.oid))]));
  }
  #placeOf({ oid, paths }, told) {
    const download = told?.actions?.download;
    if (download) return { href: download.href, header: download.header ?? {} };
    const why = told?.error ? `it says ${told.error.code} ${plain(told.error.message)}`.trim() : "it names no place";
    throw this.#fault(
      `does not have ${paths[0]} (object ${oid.slice(0, 12)}, ${why}): push it with "git lfs push --all"`
    );
  }
  async *#download({ oid, size, paths }, { href, header }) {
    const url = URL.parse(href, `${this.#endpoint.url}/`);
    if (url === null || !/^https?:$/.test(url.protocol))
      throw this.#fault(`names an address for ${paths[0]} that is not taken`);
    const own = url.origin === new URL(this.#endpoint.url).origin ? this.#endpoint.header : {};
    const response = await this.#follow(url, { ...own, ...header });
    if (response.status !== 200)
      throw this.#fault(
        `answered ${response.status} for ${paths[0]} (object ${oid.slice(0, 12)}): deploy again`
      );
    let left = size;
    for await (const piece of this.#bytesOf(response)) {
      left -= piece.length;
      if (left < 0) break;
      yield piece;
    }
    if (left !== 0)
      throw this.#fault(`sent ${paths[0]} with another length than its pointer says: push it again`);
  }
  /** Follows redirects to anywhere that may be asked; what signs in stays with the origin that it was for. */
  async #follow(url, headers) {
    let at = url;
    for (let redirects = 0; ; redirects += 1) {
      const response = await this.#send(at, { headers: at.origin === url.origin ? headers : {} });
      if (response.status < 300 || response.status >= 400) return response;
      await response.body?.cancel();
      const next = URL.parse(response.headers.get("location") ?? "", at);
      if (next === null || !/^https?:$/.test(next.protocol) || redirects === MAX_REDIRECTS)
        throw this.#fault("leads nowhere");
      at = next;
    }
  }
  async #send(url, init) {
    try {
      const scheme = url.protocol === "https:" ? "https" : "http";
      await this.#judge(url, scheme);
      return await fetch(url, {
        ...init,
        headers: { "user-agent": `deployer/${VERSION}`, ...init.headers },
        redirect: "manual",
        dispatcher: this.#agentFor(scheme),
        signal: this.#signal
      });
    } catch (error) {
      throw this.#explain(error);
    }
  }
  /** A name is judged when it is connected to; here too where a proxy of the host's connects, which may know others. */
  async #judge({ hostname, port }, scheme) {
    const place = [hostname, Number(port) || usualPort(scheme), this.#reach];
    assertPlace(...place);
    if (outboundProxy(scheme) === null) return;
    await resolveJudged(...place).catch((error) => {
      if (error instanceof ForbiddenPlace) throw error;
    });
  }
  /** What a server says; of one that says too much, nothing. */
  async #textOf(response) {
    const pieces = [];
    let size = 0;
    for await (const piece of this.#bytesOf(response)) {
      size += piece.length;
      if (size > MAX_ANSWER_BYTES) return "";
      pieces.push(piece);
    }
    return Buffer.concat(pieces).toString("utf8");
  }
  async *#bytesOf(response) {
    try {
      if (response.body) yield* response.body;
    } catch (error) {
      throw this.#explain(error);
    }
  }
  #agentFor(scheme) {
    const known = this.#agents.get(scheme);
    if (known) return known;
    const proxy = outboundProxy(scheme);
    const agent = proxy === null ? this.#judgingAgent() : new ProxyAgent({ uri: proxy.href, ...PATIENCE });
    this.#agents.set(scheme, agent);
    return agent;
  }
  #judgingAgent() {
    return new Agent({
      ...PATIENCE,
      connect: (options, callback) => {
        const port = Number(options.port) || (options.protocol === "https:" ? 443 : 80);
        buildConnector({ lookup: judgedLookup(port, this.#reach), timeout: CONNECT_MS })(options, callback);
      }
    });
  }
  #refusal(status) {
    if (status === 401 || status === 403)
      return this.#fault(
        "refused the credentials: authorize its git connection again, or correct the address"
      );
    if ([404, 405, 406, 410, 501].includes(status))
      return this.#fault(`is none (it answered ${status}): keep the files in git itself, or correct lfs.url`);
    return this.#fault(`answered ${status}: deploy again later`);
  }
  #explain(error) {
    if (this.#signal.aborted) return this.#signal.reason;
    for (let at = error; at instanceof Error; at = at.cause)
      if (at instanceof ForbiddenPlace) return this.#fault(`may not be asked: ${at.message}`);
    const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
    return this.#fault(`cannot be reached (${plain(messageOf(cause))}): try again`);
  }
  #fault(what) {
    return new BuildFailure(`the Git LFS of ${this.#endpoint.url} ${what}`);
  }
}
const PATIENCE = { headersTimeout: SILENCE_MS, bodyTimeout: SILENCE_MS };
const MAX_SAID_CHARACTERS = 200;
function plain(text) {
  return text.slice(0, MAX_SAID_CHARACTERS).replaceAll(/\p{C}+/gu, " ");
}

const MAX_FILES = 2e4;
const MAX_PATHS_CHARACTERS = 4 * 1024 * 1024;
async function listLfsFiles(repository, tree, judged) {
  if (judged.attributes === null) return null;
  const paths = await listPaths(tree);
  return paths.length === 0 ? null : { paths, address: await configuredAddress(repository, judged) };
}
async function fetchLfsFiles(request) {
  const { listing, directory, access, used, reader, signal, onLine } = request;
  const objects = await reader.ask(READ_POINTERS, { directory, paths: listing.paths });
  if (objects.length === 0) return NOTHING;
  const bytes = objects.reduce((sum, object) => sum + object.size * object.paths.length, 0);
  if (isTooLarge(used.bytes + bytes, used.files)) throw new BuildFailure(TOO_LARGE);
  onLine(`fetching ${objects.length === 1 ? "a file" : `${objects.length} files`} kept by Git LFS`);
  const endpoint = await withRemote(access, signal, (remote) => endpointOf(remote, listing.address));
  const server = new LfsServer(endpoint, access.reach, signal);
  const content = Readable.from(server.read(objects), { objectMode: false });
  try {
    await withReader(signal, (writer) => writer.feed(WRITE_OBJECTS, { directory, objects }, content));
  } finally {
    content.destroy();
    await server.close();
  }
  return { bytes, files: 0 };
}
const NOTHING = { bytes: 0, files: 0 };
async function listPaths(tree) {
  const paths = [];
  let characters = 0;
  const onPath = (path) => {
    paths.push(path);
    characters += path.length;
    if (paths.length > MAX_FILES || characters > MAX_PATHS_CHARACTERS)
      throw new BuildFailure(
        `Git LFS keeps more than ${MAX_FILES} files of the repository, or at paths too long: deploy a smaller one`
      );
  };
  await tree.git(["ls-files", "-z", "--", ":(top,attr:filter=lfs)"], onPath, "\0");
  return paths;
}

const MODULES = ".gitmodules";
const SETTING = /^submodule\.(.*)\.(path|url|update)$/s;
const MAX_SHOWN_CHARACTERS = 200;
async function submodulesOf(repository, judged, above) {
  if (!judged.hasModules || judged.submodules.length === 0) return [];
  const listed = await readModules(repository, judged.sha);
  const found = [];
  for (const { path, sha } of judged.submodules) {
    const folder = posix.join(above, path);
    const module = listed.get(path);
    if (module?.update === "none") continue;
    if (module?.url === void 0) throw cannotFetch(folder, `${MODULES} names no address for it`);
    const url = isRelative(module.url) ? resolveRelative(module.url, repository.remote.url) : module.url;
    const fault = repositoryUrlFault(url);
    if (fault !== null) throw cannotFetch(folder, `its address ${fault}`, { from: withoutCredentials(url) });
    found.push({ folder, sha, url });
  }
  return found;
}
class SubmoduleFailure extends BuildFailure {
}
function failureOf({ folder }, error) {
  if (error instanceof RemoteFault) return cannotFetch(folder, error.message, { cause: error });
  if (!(error instanceof BuildFailure) || error instanceof SubmoduleFailure) return error;
  return new SubmoduleFailure(`the submodule ${folder}: ${error.message}`, { cause: error });
}
function cannotFetch(folder, reason, { from, cause } = {}) {
  return new SubmoduleFailure(
    `the submodule ${folder} cannot be fetched${from === void 0 ? "" : ` from ${from}`} (${reason}): make it readable for this server (same host and credentials, or its ssh key), or remove it`,
    { cause }
  );
}
async function readModules(repository, sha) {
  const modules = /* @__PURE__ */ new Map();
  const settings = await repository.settings(sha, MODULES, ["--get-regexp", "^submodule\\."]);
  for (const setting of settings) {
    const [key = "", value = ""] = setting.split(/\n(.*)/s);
    const [, name, what] = SETTING.exec(key) ?? [];
    if (name !== void 0 && what !== void 0) modules.set(name, { ...modules.get(name), [what]: value });
  }
  return new Map([...modules.values()].map((module) => [module.path ?? "", module]));
}
function isRelative(url) {
  return /^\.\.?\//.test(url);
}
function resolveRelative(relative, base) {
  const host = formatRepositoryUrl({ ...parseRepositoryUrl(base), path: "" });
  const path = base.slice(host.length);
  const root = path.startsWith("/") ? "/" : "";
  const segments = path.split("/").filter((segment) => segment !== "");
  for (const segment of relative.split("/")) {
    if (segment === ".." && segments.pop() === void 0) return relative;
    if (segment !== ".." && segment !== "." && segment !== "") segments.push(segment);
  }
  return host + root + segments.join("/");
}
function withoutCredentials(text) {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? "";
  const rest = text.slice(Math.max(text.lastIndexOf("@") + 1, scheme.length));
  return (scheme + rest).slice(0, MAX_SHOWN_CHARACTERS);
}

function mirrorOf(mirrors, address, holder) {
  return join(mirrors, sha256(JSON.stringify([splitCredentials(address).url, holder])));
}
function layOutPart({ access, mirror, place, fetch }, { used, added, usesKeptTrees, signal, onLine }) {
  const layOut = async (remote, limited) => {
    const repository = new Repository(mirror, remote);
    if (!existsSync(mirror)) await repository.make();
    const head = await fetch(repository);
    const judged = await judgeTree(repository, head.sha, used);
    const tree = new KeptTree(repository, limited);
    await tree.layOut(judged, place, usesKeptTrees);
    const submodules = await submodulesOf(repository, judged, place.folder);
    const lfs = await listLfsFiles(repository, tree, judged);
    await joinPacks(repository);
    return { head, submodules, lfs, used: useOf(judged) };
  };
  const work = async () => {
    const before = await sizeOf(mirror);
    const filling = { directory: mirror, beside: beyond(added, before) };
    const laidOut = await withinSize(
      filling,
      signal,
      (limited) => withRemote(access, limited, (remote) => layOut(remote, limited))
    );
    return { ...laidOut, added: beyond(await sizeOf(mirror), before) };
  };
  return withMirror({ directory: mirror, signal, onLine, work });
}
async function sizeOf(mirror) {
  const tree = await sizeOfKeptTree(mirror);
  return { bytes: await sizeOfMirror(mirror) + (tree?.bytes ?? 0), files: tree?.files ?? 0 };
}
function beyond(use, other) {
  return { bytes: Math.max(0, use.bytes - other.bytes), files: Math.max(0, use.files - other.files) };
}

const CHECKOUT_TIMEOUT_MS = 15 * 6e4;
const MAX_MESSAGE_CHARACTERS = 8 * 1024;
const MAX_AUTHOR_CHARACTERS = 256;
const MAX_DEPTH = 10;
async function checkout(request) {
  const { url } = splitCredentials(request.url);
  const timeout = AbortSignal.timeout(CHECKOUT_TIMEOUT_MS);
  const ending = new AbortController();
  const signal = AbortSignal.any([request.signal, timeout, ending.signal]);
  try {
    const following = followedBranch(request, signal);
    following.catch(() => {
    });
    const head = await new Parts(request, signal).layOut();
    return { ...head, branch: head.branch ?? await following };
  } catch (error) {
    if (timeout.aborted && !request.signal.aborted) {
      throw new BuildFailure(
        `cloning ${url} took longer than ${CHECKOUT_TIMEOUT_MS / 6e4} minutes: try again, or deploy a smaller repository`
      );
    }
    if (!(error instanceof RemoteFault)) throw error;
    throw new BuildFailure(error.message, { cause: error });
  } finally {
    ending.abort();
  }
}
async function followedBranch(request, signal) {
  if (request.branch !== null || request.commit !== null) return null;
  const { defaultBranch } = await withRemote(request, signal, (remote) => listRefs(remote, ["HEAD"]));
  return defaultBranch;
}
class Parts {
  #request;
  #signal;
  #used = { bytes: 0, files: 0 };
  #added = { bytes: 0, files: 0 };
  #submodules = 0;
  constructor(request, signal) {
    this.#request = request;
    this.#signal = signal;
  }
  async layOut() {
    const { mirrors, url, holder, onLine } = this.#request;
    const fetch = async (repository) => describe(repository, await fetchCommit(repository, this.#request, onLine));
    const part = {
      access: this.#request,
      holder,
      mirror: mirrorOf(mirrors, url, holder),
      place: this.#place(""),
      fetch
    };
    const { head, submodules } = await this.#add(part);
    await this.#addSubmodules(submodules, part, 1);
    return head;
  }
  async #add(part) {
    const { reader, directory, usesKeptTrees, onLine } = this.#request;
    const context = { used: this.#used, added: this.#added, usesKeptTrees, signal: this.#signal, onLine };
    const { lfs, head, submodules, used, added } = await layOutPart(part, context);
    count(this.#used, used);
    count(this.#added, added);
    if (lfs !== null) {
      const place = { directory: join(directory, part.place.folder), access: part.access, reader };
      count(this.#used, await fetchLfsFiles({ listing: lfs, ...place, ...context }));
    }
    return { head, submodules };
  }
  async #addSubmodules(submodules, parent, depth) {
    this.#submodules += submodules.length;
    if (submodules.length > 0 && depth > MAX_DEPTH)
      throw new BuildFailure(
        `the submodules are nested more than ${MAX_DEPTH} deep: does one contain itself?`
      );
    if (this.#submodules > MAX_SUBMODULES) throw new BuildFailure(TOO_MANY_SUBMODULES);
    for (const submodule of submodules) {
      const { folder, sha, url } = submodule;
      const { onLine, mirrors } = this.#request;
      onLine(`fetching the submodule ${folder}`);
      const { credentials, holder } = credentialsBelow(parent, url);
      const fetch = async (repository) => ({
        sha: await fetchById(repository, sha, onLine)
      });
      const part = {
        access: { ...this.#request, url, credentials },
        holder,
        mirror: mirrorOf(mirrors, url, holder),
        place: this.#place(folder),
        fetch
      };
      const below = await this.#add(part).catch((error) => {
        throw failureOf(submodule, error);
      });
      await this.#addSubmodules(below.submodules, part, depth + 1);
    }
  }
  #place(folder) {
    return { reader: this.#request.reader, root: this.#request.directory, folder };
  }
}
function count(sum, { bytes, files }) {
  sum.bytes += bytes;
  sum.files += files;
}
function credentialsBelow({ access, holder, mirror }, url) {
  const own = splitCredentials(url);
  if (own.username !== null || own.password !== null) return { credentials: null, holder: mirror };
  const above = splitCredentials(access.url);
  const isInAddress = above.username !== null || above.password !== null;
  const credentials = isInAddress ? credentialsOf(above) : access.credentials ?? null;
  return credentials !== null && placeOf$1(above.url) === placeOf$1(own.url) ? { credentials: forOwnerOf(own.url, credentials), holder } : { credentials: null, holder: "" };
}
function credentialsOf({ url, username, password }) {
  const { origin, pathname } = new URL(url);
  const [owner, name] = pathname.slice(1).split("/", 2);
  const own = name === void 0 ? {} : { own: `${origin}/${owner}` };
  return { username: username ?? "", password: password ?? "", place: origin, ...own };
}
function forOwnerOf(url, credentials) {
  const { username, password, place, own } = credentials;
  if (own === void 0 || isBelow(url, own)) return credentials;
  if (!isBelow(url, place)) return null;
  const [owner] = url.slice(place.length + 1).split("/", 1);
  return { username, password, place: `${place}/${owner}` };
}
function placeOf$1(url) {
  const { protocol, host, port } = parseRepositoryUrl(url);
  return JSON.stringify([protocol, host, port]);
}
async function describe(repository, commit) {
  const shown = await repository.git(["log", "-1", "--format=%an%n%B", commit.sha]);
  const nameEnd = shown.indexOf("\n");
  return {
    ...commit,
    message: shown.slice(nameEnd + 1).trim().slice(0, MAX_MESSAGE_CHARACTERS),
    author: shown.slice(0, Math.min(nameEnd, MAX_AUTHOR_CHARACTERS))
  };
}

class SourceTree {
  place;
  #directory;
  #signal;
  #reader;
  #released = null;
  constructor(place, reader, directory, signal) {
    this.place = place;
    this.#reader = reader;
    this.#directory = directory;
    this.#signal = signal;
  }
  /** Its `root_dir`. */
  get root() {
    return join(this.place.directory, this.place.folder);
  }
  /** The process that alone looks into its files. */
  get reader() {
    return this.#reader ??= new Reader(this.#signal);
  }
  /** Has a job done by that process. */
  ask(job, input) {
    return this.reader.ask(job, input);
  }
  /** Ends the process for as long as nothing is asked of it: it takes 60 MiB. */
  async rest() {
    await this.#reader?.end();
    this.#reader = null;
  }
  /** Removes the files and ends the process, as soon as neither is needed; may be called more than once. */
  release() {
    this.#released ??= this.ask(REMOVE_TREE, { directory: this.#directory }).catch(() => {
    }).then(() => this.rest());
    return this.#released;
  }
}
async function withSourceTree(request, work) {
  const { name, slots, signal } = request;
  const directory = join(useContext().options.dataDirectory, "checkouts", name);
  let source;
  try {
    source = await slots.run(() => layOut(directory, request), signal);
    const made = await work(source);
    await source.release();
    return made;
  } finally {
    await source?.rest();
    const removed = clearTree(directory);
    if (!signal.aborted) await removed;
  }
}
async function layOut(directory, request) {
  const { rootDir, signal } = request;
  const reader = new Reader(signal);
  try {
    await removeTree(directory);
    makePrivateDirectory(directory);
    const tree = join(directory, "tree");
    await request.layOut(tree, reader);
    return new SourceTree(await placeOf(tree, rootDir), reader, directory, signal);
  } catch (error) {
    await reader.end();
    throw error;
  }
}
async function placeOf(tree, rootDir) {
  const directory = await realpath(tree);
  if (rootDir === null) return { directory, folder: "" };
  const root = await realpath(join(directory, rootDir)).catch(() => null);
  const folder = root === null ? null : relative(directory, root);
  const isInside = root !== null && folder !== null && !/^\.\.(\/|$)/.test(folder);
  if (!isInside || !(await stat(root)).isDirectory()) {
    throw new BuildFailure(`root_dir ${rootDir} is no folder of the source: correct it`);
  }
  return { directory, folder };
}

export { CHOOSE_RECIPE as C, PACK_CONTEXT as P, checkout as c, trimMirrors as t, withSourceTree as w };
