class Slots {
  #free;
  #waiting = [];
  constructor(count) {
    this.#free = count;
  }
  /** Whether the next work has to wait. */
  get isFull() {
    return this.#free === 0;
  }
  /** Runs a work when there is a slot for it. Throws the signal's reason when it aborts before. */
  async run(work, signal) {
    if (this.#free > 0) this.#free -= 1;
    else await this.#turn(signal);
    try {
      return await work();
    } finally {
      const next = this.#waiting.shift();
      if (next) next();
      else this.#free += 1;
    }
  }
  #turn(signal) {
    const { promise, resolve, reject } = Promise.withResolvers();
    const leave = () => {
      this.#waiting.splice(this.#waiting.indexOf(enter), 1);
      reject(signal.reason);
    };
    const enter = () => {
      signal?.removeEventListener("abort", leave);
      resolve();
    };
    this.#waiting.push(enter);
    signal?.addEventListener("abort", leave, { once: true });
    return promise;
  }
}

export { Slots as S };
