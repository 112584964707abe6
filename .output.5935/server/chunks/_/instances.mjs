import { A as AppError, E as useDatabase } from '../nitro/nitro.mjs';
import { W as WorkerThread, T as ThreadEnded } from './worker-thread.mjs';

const SEARCH_LIMIT_MS = 3e4;
const MAX_THREADS = 8;
const MAX_HEAP_MIB = 192;
let program;
let running = 0;
function provideSearchProgram(file) {
  program = file;
}
class SearchThread {
  #thread;
  /** Throws `service_unavailable` when too many run, and the signal's reason. */
  constructor(filter, signal) {
    signal.throwIfAborted();
    if (!program) throw new Error("no program was named that searches logs");
    if (running >= MAX_THREADS)
      throw new AppError(
        "service_unavailable",
        `${MAX_THREADS} searches of logs run at one time, and they do: try again when one has ended`,
        { retryAfterSeconds: 1 }
      );
    running++;
    this.#thread = new WorkerThread({
      program,
      data: filter,
      maxHeapMib: MAX_HEAP_MIB,
      limitMs: SEARCH_LIMIT_MS
    });
    this.#thread.onEnd(() => running--);
    signal.addEventListener("abort", () => this.end(), { once: true });
  }
  end() {
    this.#thread.end();
  }
  async tail(slices, tail, room) {
    const { found } = await this.#ask({ kind: "tail", slices, tail, room });
    return { ...found, blocks: found.blocks.map((block) => Buffer.from(block)) };
  }
  /** The wanted lines of a block, with their newlines. */
  async match(block) {
    const { text } = await this.#ask({ kind: "match", block });
    return Buffer.from(text);
  }
  /** Throws `service_unavailable` when the thread has ended, or takes too long. */
  #ask(request) {
    return this.#thread.ask(request).catch((error) => {
      if (!(error instanceof ThreadEnded)) throw error;
      throw new AppError("service_unavailable", "the search was ended: it took too long");
    });
  }
}

function recordLogInstance(id) {
  useDatabase().run(
    `INSERT INTO log_instances (id, service_id, deploy_id, created_at)
     SELECT id, service_id, deploy_id, created_at FROM instances WHERE id = ? ON CONFLICT DO NOTHING`,
    id
  );
}
function instanceDeploys(serviceId) {
  const rows = useDatabase().all(
    "SELECT id, deploy_id FROM log_instances WHERE service_id = ? ORDER BY created_at DESC, id",
    serviceId
  );
  return new Map(rows.map(({ id, deploy_id }) => [id, deploy_id]));
}
function tidyLogInstances(retentionMs) {
  const now = Date.now();
  useDatabase().run(
    "UPDATE log_instances SET gone_at = ? WHERE gone_at IS NULL AND id NOT IN (SELECT id FROM instances)",
    now
  );
  useDatabase().run("DELETE FROM log_instances WHERE gone_at < ?", now - retentionMs);
}

export { SearchThread as S, instanceDeploys as i, provideSearchProgram as p, recordLogInstance as r, tidyLogInstances as t };
