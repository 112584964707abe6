import { spawn } from 'node:child_process';
import { setPriority } from 'node:os';
import { finished } from 'node:stream';
import { readFile } from 'node:fs/promises';

class BuildFailure extends Error {
  name = "BuildFailure";
}

const PRIORITY = 5;
function lowerPriority(pid) {
  try {
    if (pid !== void 0) setPriority(pid, PRIORITY);
  } catch {
  }
}

const PERIOD_MS = 100;
const TICKS_PER_SECOND = 100;
async function usageOf(pid) {
  try {
    const [stat, status] = await Promise.all([
      readFile(`/proc/${pid}/stat`, "latin1"),
      readFile(`/proc/${pid}/status`, "latin1")
    ]);
    const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    const resident = /^VmRSS:[ \t]*(\d+) kB$/m.exec(status)?.[1] ?? 0;
    return {
      cpuSeconds: (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND,
      residentBytes: Number(resident) * 1024
    };
  } catch {
    return null;
  }
}
async function memoryOfTree(pid) {
  try {
    const [status, children] = await Promise.all([
      readFile(`/proc/${pid}/status`, "latin1"),
      // Of its first thread, the only one by which git starts others (proc_pid_task(5)).
      readFile(`/proc/${pid}/task/${pid}/children`, "latin1").catch(() => "")
    ]);
    const own = Number(/^RssAnon:[ \t]*(\d+) kB$/m.exec(status)?.[1] ?? 0) * 1024;
    const below = await Promise.all(
      (children.match(/\d+/g) ?? []).map((child) => memoryOfTree(Number(child)))
    );
    return below.reduce((sum, bytes) => sum + (bytes ?? 0), own);
  } catch {
    return null;
  }
}
function watchUsage(pid, onUsage) {
  return watch(() => usageOf(pid), onUsage);
}
function watchMemory(pid, onBytes) {
  return watch(() => memoryOfTree(pid), onBytes);
}
function watch(read, onValue) {
  let timer;
  let stopped = false;
  const look = async () => {
    const value = await read();
    if (stopped) return;
    if (value !== null) onValue(value);
    later();
  };
  const later = () => void (timer = setTimeout(() => void look(), PERIOD_MS).unref());
  later();
  return () => {
    stopped = true;
    clearTimeout(timer);
  };
}

function pump(source, sink, onBytes) {
  const { promise, resolve, reject } = Promise.withResolvers();
  const resume = () => void source.resume();
  const onData = (bytes) => {
    try {
      onBytes(bytes);
    } catch (error) {
      return reject(error);
    }
    if (sink.write(bytes, () => giveBack(bytes))) return;
    source.pause();
    sink.once("drain", resume);
  };
  const unwatch = finished(source, { writable: false }, (error) => {
    if (error) return reject(error);
    sink.end();
    resolve();
  });
  source.on("data", onData);
  return {
    done: promise,
    detach() {
      source.off("data", onData).pause();
      sink.off("drain", resume);
      unwatch();
    }
  };
}
function giveBack({ buffer, length }) {
  if (buffer instanceof ArrayBuffer && buffer.byteLength === length) buffer.transfer(0);
}

const MAX_HEAP_MIB = 256;
const MAX_RESIDENT_BYTES = 384 * 1024 * 1024;
const YOUNG_GENERATION_MIB = 4;
let program;
function provideReaderProgram(file) {
  program = file;
}
class Reader {
  #child;
  #exited;
  #signal;
  #stopWatching;
  /** Why it was killed. */
  #reason;
  #hasEnded = false;
  #words = "";
  #cpuSeconds = 0;
  #asked = null;
  /** Throws the signal's reason when it has aborted already. */
  constructor(signal) {
    signal?.throwIfAborted();
    if (program === void 0) throw new Error("there is no program that reads sources");
    this.#signal = signal;
    const flags = [`--max-old-space-size=${MAX_HEAP_MIB}`, `--max-semi-space-size=${YOUNG_GENERATION_MIB}`];
    this.#child = spawn(process.execPath, [...flags, program], {
      cwd: "/",
      // It needs none of the server's secrets, nor anything else of its environment.
      env: {},
      // The last is its lifeline: it closes with this process, however that ends.
      stdio: ["pipe", "pipe", "pipe", "ipc", "pipe"]
    });
    const { pid } = this.#child;
    this.#exited = new Promise((resolve) => {
      this.#child.once("error", (error) => resolve(this.#ended(error)));
      this.#child.once("exit", (code, by) => resolve(this.#ended(by ?? code)));
    });
    this.#child.on("message", (answer) => this.#settle(answer));
    this.#child.stderr.setEncoding("utf8").on("data", (text) => {
      this.#words = (this.#words + text).slice(-4096);
    });
    for (const stream of this.#child.stdio) stream?.on("error", () => {
    });
    signal?.addEventListener("abort", this.#onAbort, { once: true });
    this.#stopWatching = pid === void 0 ? () => {
    } : watchUsage(pid, (usage) => this.#judge(usage));
    lowerPriority(pid);
  }
  /** What a job writes beside its answer. Its end says nothing of whether all came: the answer does. */
  get output() {
    return this.#child.stdout;
  }
  /**
   * Has a job done. Throws BuildFailure for faults of the source, and when the job takes more than it may; the signal's
   * reason; or the error that it met.
   */
  async ask(job, input) {
    if (this.#asked) throw new Error(`${job.name} was asked for while ${this.#asked.doing}`);
    if (this.#hasEnded) throw this.#reason;
    const settle = Promise.withResolvers();
    this.#asked = { doing: job.doing, settle };
    this.#cpuSeconds += job.limits.cpuSeconds;
    const { seconds } = job.limits;
    const late = () => this.#kill(tooMuch(job.doing, `longer than ${seconds} s`));
    const timer = seconds === null ? void 0 : setTimeout(late, seconds * 1e3);
    try {
      this.#child.send({ job: job.name, input }, () => {
      });
      return outputOf(await settle.promise);
    } finally {
      clearTimeout(timer);
      this.#asked = null;
    }
  }
  /**
   * Like `ask`, with a stream as the job's input, which is left open. `onBytes` sees what is sent and may throw to end it.
   */
  async feed(job, input, stream, onBytes = () => {
  }) {
    const answered = this.ask(job, input);
    const feeding = pump(stream, this.#child.stdin, onBytes);
    try {
      await Promise.race([answered, feeding.done]);
      return await answered;
    } catch (error) {
      await this.end();
      await answered.catch(() => {
      });
      throw error;
    } finally {
      feeding.detach();
    }
  }
  /** Ends the process and waits until it is gone. */
  async end() {
    this.#kill(new Error("the reading was ended"));
    await this.#exited;
  }
  #onAbort = () => this.#kill(this.#signal?.reason);
  #judge({ cpuSeconds, residentBytes }) {
    const doing = this.#asked?.doing ?? "reading the source";
    if (residentBytes > MAX_RESIDENT_BYTES) this.#kill(tooMuch(doing, MEMORY));
    if (this.#asked && cpuSeconds > this.#cpuSeconds)
      this.#kill(tooMuch(doing, `more than ${this.#cpuSeconds} s of processor time`));
  }
  #kill(reason) {
    this.#reason ??= reason;
    this.#child.kill("SIGKILL");
  }
  #settle(answer) {
    this.#asked?.settle.resolve(answer);
  }
  #ended(how) {
    this.#hasEnded = true;
    this.#stopWatching();
    this.#signal?.removeEventListener("abort", this.#onAbort);
    const doing = this.#asked?.doing ?? "it waited";
    this.#reason ??= this.#explain(how, doing);
    this.#asked?.settle.reject(this.#reason);
  }
  #explain(how, doing) {
    if (how instanceof Error) return how;
    if (this.#words.includes("heap out of memory")) return tooMuch(doing, MEMORY);
    const words = this.#words.trim().split("\n").at(-1) ?? "";
    return new Error(`the process that reads sources ended (${how}) while ${doing}: ${words}`);
  }
}
async function withReader(signal, work) {
  const reader = new Reader(signal);
  try {
    return await work(reader);
  } finally {
    await reader.end();
  }
}
const MEMORY = `more than ${MAX_RESIDENT_BYTES / 1024 ** 2} MiB of memory`;
function tooMuch(doing, what) {
  return new BuildFailure(`${doing} takes ${what}: deploy a smaller or plainer source`);
}
function outputOf(answer) {
  if (answer.kind === "done") return answer.output;
  if (answer.kind === "source fault") throw new BuildFailure(answer.message);
  const { message, code, stack } = answer;
  throw Object.assign(new Error(message), { stack, ...code === null ? {} : { code } });
}

const ARCHIVE_CPU_SECONDS = 10 * 60;
const REMOVAL_SECONDS = 10 * 60;
const WATCH_CPU_SECONDS = 10 * 60;
const KEEP_ARCHIVE = {
  name: "keep-archive",
  doing: "reading the archive",
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null }
};
const UNPACK_ARCHIVE = {
  name: "unpack-archive",
  doing: "unpacking the archive",
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null }
};
const WATCH_SIZE = {
  name: "watch-size",
  doing: "counting the files of the repository",
  limits: { cpuSeconds: WATCH_CPU_SECONDS, seconds: null }
};
const READ_POINTERS = {
  name: "read-pointers",
  doing: "reading the pointers of Git LFS",
  limits: { cpuSeconds: REMOVAL_SECONDS, seconds: REMOVAL_SECONDS }
};
const WRITE_OBJECTS = {
  name: "write-objects",
  doing: "writing the files of Git LFS",
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null }
};
const LINK_TREE = {
  name: "link-tree",
  doing: "laying out the files of the repository",
  limits: { cpuSeconds: ARCHIVE_CPU_SECONDS, seconds: null }
};
const REMOVE_TREE = {
  name: "remove-tree",
  doing: "removing the files of the source",
  limits: { cpuSeconds: REMOVAL_SECONDS, seconds: REMOVAL_SECONDS }
};

export { BuildFailure as B, KEEP_ARCHIVE as K, LINK_TREE as L, REMOVE_TREE as R, UNPACK_ARCHIVE as U, WRITE_OBJECTS as W, watchMemory as a, READ_POINTERS as b, Reader as c, WATCH_SIZE as d, lowerPriority as l, provideReaderProgram as p, withReader as w };
