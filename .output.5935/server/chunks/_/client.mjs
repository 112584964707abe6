import { availableParallelism } from 'node:os';
import { setTimeout } from 'node:timers/promises';
import { b as ask, s as startSupervisor, c as stageProgram, a as keepServerId, d as stopProxy } from './find.mjs';
import { g as greet, e as endOlder, H as HELLO_MS, S as START_POLL_MS, C as ChannelError } from './greeting.mjs';
import { S as SECTIONS, P as PROTOCOL } from './protocol.mjs';

const MESSAGE_CHARACTERS = 32 * 1024;
class MessageWriter {
  #base;
  #part = 0;
  #entries = {};
  #characters = 0;
  constructor(base) {
    this.#base = base;
  }
  /** Adds an entry. Answers a message when there is enough for one. */
  add(section, name, text) {
    (this.#entries[section] ??= []).push([name, text]);
    this.#characters += name.length + (text?.length ?? 0);
    return this.#characters < MESSAGE_CHARACTERS ? null : this.#write("");
  }
  /** The last message, with the JSON of the settings. */
  end(settings) {
    return this.#write(`,"settings":${settings}`);
  }
  #write(more) {
    const text = writeMessage(this.#part++, this.#base, this.#entries, more);
    this.#entries = {};
    this.#characters = 0;
    return text;
  }
}
function writeMessage(part, base, entries, more) {
  const sections = [];
  for (const section of SECTIONS) {
    const texts = entries[section]?.map(([name, text]) => `[${JSON.stringify(name)},${text}]`);
    if (texts) sections.push(`"${section}":[${texts.join()}]`);
  }
  return `{"part":${part},"base":${base},"entries":{${sections.join()}}${more}}`;
}
async function sendTable(channel, messages, { window, timeoutMs }) {
  const underWay = [];
  let answer;
  for await (const message of messages) {
    if (underWay.length === window) answer = await underWay.shift();
    const asked = channel.request("table", message, timeoutMs);
    asked.catch(() => {
    });
    underWay.push(asked);
  }
  for (const asked of underWay) answer = await asked;
  return answer;
}

function sectionMaps() {
  const maps = SECTIONS.map((section) => [section, /* @__PURE__ */ new Map()]);
  return Object.fromEntries(maps);
}

class SentTable {
  #texts = sectionMaps();
  #empty = true;
  /** Becomes `table`; gives the messages for whoever has the one before, or for anyone when there was none. */
  *become(table) {
    const writer = new MessageWriter(!this.#empty);
    for (const section of SECTIONS) {
      const texts = this.#texts[section];
      const entries = table[section] ?? {};
      let count = 0;
      for (const name in entries) {
        count++;
        const text = JSON.stringify(entries[name]);
        if (texts.get(name) === text) continue;
        texts.set(name, text);
        const message = writer.add(section, name, section === "targets" ? JSON.stringify(text) : text);
        if (message) yield message;
      }
      if (texts.size === count) continue;
      for (const name of texts.keys()) {
        if (Object.hasOwn(entries, name)) continue;
        texts.delete(name);
        const message = writer.add(section, name, null);
        if (message) yield message;
      }
    }
    const settings = { ...table };
    for (const section of SECTIONS) delete settings[section];
    this.#empty = false;
    yield writer.end(JSON.stringify(settings));
  }
}

const START_MS = 3e4;
const UPGRADE_MS = 4e4;
async function reachProxy(reach, program, workers, patienceMs) {
  const { dataDirectory, serverId } = reach;
  let found = await greet(dataDirectory, patienceMs);
  if (!found) {
    reach.log("starting the proxy", { version: program.version });
    found = await start(reach, program, workers);
  }
  try {
    if (found.hello.server_id !== serverId)
      throw new Error(`the proxy in ${dataDirectory} (process ${found.hello.pid}) belongs to another server`);
    const hadOlder = await endOlder(dataDirectory, found);
    if (hadOlder || found.hello.version !== program.version || found.hello.protocol !== PROTOCOL) {
      reach.log("upgrading the proxy", { from: found.hello.version, to: program.version });
      found = await upgrade(reach, program, workers, found);
    }
    await ask(found.channel, "attach", { server_id: serverId, workers }, HELLO_MS);
    return found;
  } catch (error) {
    found.channel.close();
    throw error;
  }
}
async function start(reach, program, workers) {
  const { dataDirectory, serverId, node, maySpawn = true } = reach;
  const settings = {
    data_directory: dataDirectory,
    server_id: serverId,
    version: program.version,
    workers,
    inherited: [],
    successor: false
  };
  const { failed } = await startSupervisor(node, program, settings, maySpawn);
  failed.catch(() => {
  });
  const found = await Promise.race([greet(dataDirectory, START_MS), failed]);
  if (!found) throw new Error(`the proxy did not start within ${START_MS / 1e3} s; see proxy/proxy.log`);
  return found;
}
async function upgrade(reach, program, workers, old) {
  const { dataDirectory, serverId, node } = reach;
  await ask(old.channel, "attach", { server_id: serverId, workers: 0 }, HELLO_MS);
  const successor = { node, program: program.file, version: program.version, workers };
  await ask(old.channel, "upgrade", successor, UPGRADE_MS);
  old.channel.close();
  const deadline = performance.now() + START_MS;
  while (performance.now() < deadline) {
    const found = await greet(dataDirectory, START_MS);
    if (found && found.hello.pid !== old.hello.pid) return found;
    found?.channel.close();
    await setTimeout(START_POLL_MS);
  }
  throw new Error("the upgraded proxy does not answer; see proxy/proxy.log");
}

const MAX_DEFAULT_WORKERS = 4;
const AWAY_MS = 1e3;
const MANAGED_AWAY_MS = 1e4;
const TABLE_MS = 3e4;
const TABLE_WINDOW = 16;
const COUNTS_MS = 5e3;
const DRAIN_SLACK_MS = 5e3;
const RECONNECT_FIRST_MS = 100;
const RECONNECT_LONGEST_MS = 5e3;
const ATTEMPTS = 3;
class ProxyListenError extends Error {
  name = "ProxyListenError";
  /** `EADDRINUSE`, `EACCES`, `EADDRNOTAVAIL` or `listen_failed`. */
  code;
  address;
  constructor(code, address, message) {
    super(message);
    this.code = code;
    this.address = address;
  }
}
class ProxyClient {
  /** The listeners that are open. */
  bound = [];
  /** Called when a lost connection is back, maybe with another supervisor: send the table again. */
  onReconnect = () => {
  };
  #options;
  #program;
  #channel = null;
  #connecting = null;
  #closed = false;
  /** The table that was sent last, over which connection. */
  #sent = null;
  /** Settles with the last table: the parts of two may not mix. */
  #tables = Promise.resolve();
  #workers;
  constructor(options) {
    this.#options = options;
    this.#workers = options.workers ?? Math.min(availableParallelism(), MAX_DEFAULT_WORKERS);
    this.#program = stageProgram(options.dataDirectory, options.program, options.version);
    keepServerId(options.dataDirectory, options.serverId);
  }
  /**
   * Connects to the data directory's data plane, starting or upgrading it as needed, and gives it the table. Throws
   * `ProxyListenError` when an address cannot be had (call again with another), `Error` when there is no data plane
   * to be had or the one that answers belongs to another server.
   */
  static async connect(options) {
    const client = new ProxyClient(options);
    try {
      await client.#connected();
      if (options.table) await client.applyTable(options.table);
      return client;
    } catch (error) {
      client.close();
      throw error;
    }
  }
  /**
   * Replaces the table in every worker; new requests follow it when this resolves. Throws `ProxyListenError`, or
   * `Error` when the table is refused; then the one before stays whole.
   */
  async applyTable(table) {
    const turn = this.#tables.then(() => this.#attempt((channel) => this.#sendTable(channel, table)));
    this.#tables = turn.catch(() => {
    });
    const { listeners } = await turn;
    this.bound = listeners;
  }
  /**
   * Resolves when no request, WebSockets included, is open to an instance that the table gives no more requests;
   * after `deadlineMs` those left are cut.
   */
  async drain(instance, deadlineMs) {
    await this.#ask("drain", { instance, deadline_ms: deadlineMs }, deadlineMs + DRAIN_SLACK_MS);
  }
  /** What was counted since the data plane's start. */
  counts() {
    return this.#ask("counts", {}, COUNTS_MS);
  }
  /** Ends the data plane: nothing is served any more. The client is closed. */
  async stopAll() {
    const channel = await this.#connected();
    this.#closed = true;
    await stopProxy(channel);
  }
  /** Ends the connection; the data plane serves on. */
  close() {
    this.#closed = true;
    this.#channel?.close();
  }
  #ask(name, body, timeoutMs) {
    return this.#attempt((channel) => ask(channel, name, body, timeoutMs));
  }
  async #attempt(request) {
    for (let attempt = 1; ; attempt++) {
      try {
        return await request(await this.#connected());
      } catch (error) {
        if (!(error instanceof ChannelError)) throw error;
        if (error.code === "closed" && !this.#closed && attempt < ATTEMPTS) continue;
        throw error.address === void 0 ? error : new ProxyListenError(error.code, error.address, error.message);
      }
    }
  }
  /** Sends what changed since the last table, or all of it where that is not known to be in use. */
  async #sendTable(channel, table) {
    const known = this.#sent?.channel === channel ? this.#sent.image : null;
    this.#sent = null;
    const image = known ?? new SentTable();
    try {
      const answer = await sendTable(channel, image.become(table), {
        window: TABLE_WINDOW,
        timeoutMs: TABLE_MS
      });
      this.#sent = { channel, image };
      return answer;
    } catch (error) {
      const refused = error instanceof ChannelError && error.code === "invalid_table";
      if (known && refused) return this.#sendTable(channel, table);
      throw error;
    }
  }
  #connected() {
    if (this.#closed) return Promise.reject(new Error("the connection to the proxy was closed"));
    if (this.#channel && !this.#channel.closed) return Promise.resolve(this.#channel);
    this.#connecting ??= this.#reach().finally(() => this.#connecting = null);
    return this.#connecting;
  }
  async #reach() {
    const patienceMs = this.#options.maySpawn === false ? MANAGED_AWAY_MS : this.#channel ? AWAY_MS : 0;
    const { channel, hello } = await reachProxy(this.#options, this.#program, this.#workers, patienceMs);
    this.bound = hello.listeners;
    this.#channel = channel;
    channel.onClose = () => this.#lost();
    if (channel.closed) this.#lost();
    return channel;
  }
  #lost() {
    if (this.#closed) return;
    this.#options.log("the connection to the proxy was lost");
    void this.#reconnect();
  }
  async #reconnect() {
    for (let wait = RECONNECT_FIRST_MS; !this.#closed; wait = Math.min(wait * 2, RECONNECT_LONGEST_MS)) {
      try {
        await this.#connected();
        this.onReconnect();
        return;
      } catch (error) {
        if (this.#closed) return;
        this.#options.log("the proxy cannot be reached", { error: String(error) });
        await setTimeout(wait, void 0, { ref: false });
      }
    }
  }
}

export { ProxyClient as P, ProxyListenError as a };
