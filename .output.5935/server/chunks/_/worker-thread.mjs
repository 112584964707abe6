import { Worker } from 'node:worker_threads';
import { S as Slots } from './slots.mjs';

class ThreadEnded extends Error {
}
class WorkerThread {
  #worker;
  #limitMs;
  /** It answers one question at a time. */
  #turn = new Slots(1);
  /** Why it has ended. */
  #fault = null;
  /** Tells who waits for an answer. */
  #fail = () => {
  };
  constructor({ program, data, maxHeapMib, limitMs }) {
    this.#limitMs = limitMs;
    this.#worker = new Worker(program, {
      workerData: data,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMib }
    });
    this.#worker.unref();
    this.#worker.once(
      "error",
      (error) => this.#ended(error.code === "ERR_WORKER_OUT_OF_MEMORY" ? new ThreadEnded(error.message) : error)
    );
    this.#worker.once("exit", () => this.#ended(new ThreadEnded("the thread has ended")));
  }
  /** To be told when it has ended, however that came. */
  onEnd(listener) {
    this.#worker.once("exit", listener);
  }
  end() {
    void this.#worker.terminate();
  }
  /** Throws `ThreadEnded`, or what the program threw. */
  ask(question) {
    return this.#turn.run(() => this.#answer(question));
  }
  async #answer(question) {
    if (this.#fault) throw this.#fault;
    const { promise, resolve, reject } = Promise.withResolvers();
    const timer = setTimeout(() => this.end(), this.#limitMs);
    this.#fail = reject;
    this.#worker.once("message", resolve);
    this.#worker.postMessage(question);
    try {
      const answer = await promise;
      if ("fault" in answer) throw new Error(answer.fault);
      return answer;
    } finally {
      clearTimeout(timer);
      this.#worker.off("message", resolve);
    }
  }
  #ended(fault) {
    this.#fault ??= fault;
    this.#fail(this.#fault);
  }
}

export { ThreadEnded as T, WorkerThread as W };
