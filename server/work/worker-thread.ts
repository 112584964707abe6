import { Worker } from 'node:worker_threads'
import { Slots } from './slots.ts'

/** A program to run in a thread, and its limits. */
export interface ThreadOptions {
  program: string
  /** For the program's `workerData`. */
  data?: unknown
  maxHeapMib: number
  /** By default node's own, which suits programs that need to be quick. */
  youngGenerationMib?: number
  /** How long an answer may take before the thread is stopped. */
  limitMs: number
}

/** What the program answers when it fails with an error. */
export interface ThreadFault {
  fault: string
}

/** Thrown when a thread ended without an answer: it took too long or too much memory, or was stopped. */
export class ThreadEnded extends Error {}

/**
 * A thread that answers one question after another, so that no input can block the server. It gets nothing of the server's
 * environment. Must be ended.
 */
export class WorkerThread<Question, Answer extends object> {
  readonly #worker: Worker
  readonly #limitMs: number
  /** Lets it answer one question at a time. */
  readonly #turn = new Slots(1)
  /** Why it has ended. */
  #fault: Error | null = null
  /** Rejects the answer that is awaited. */
  #fail: (fault: Error) => void = () => {}

  constructor({ program, data, maxHeapMib, youngGenerationMib, limitMs }: ThreadOptions) {
    this.#limitMs = limitMs
    this.#worker = new Worker(program, {
      workerData: data,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMib, maxYoungGenerationSizeMb: youngGenerationMib },
    })
    this.#worker.unref()
    this.#worker.once('error', (error: Error & { code?: string }) =>
      this.#ended(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadEnded(error.message) : error),
    )
    this.#worker.once('exit', () => this.#ended(new ThreadEnded('the thread has ended')))
  }

  /** Calls back when it has ended, for whatever reason. */
  onEnd(listener: () => void): void {
    this.#worker.once('exit', listener)
  }

  end(): void {
    void this.#worker.terminate()
  }

  /** Throws `ThreadEnded`, or what the program threw. */
  ask(question: Question): Promise<Answer> {
    return this.#turn.run(() => this.#answer(question))
  }

  async #answer(question: Question): Promise<Answer> {
    if (this.#fault) throw this.#fault
    const { promise, resolve, reject } = Promise.withResolvers<Answer | ThreadFault>()
    const timer = setTimeout(() => this.end(), this.#limitMs)
    this.#fail = reject
    this.#worker.once('message', resolve)
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- a thread has no origin
    this.#worker.postMessage(question)
    try {
      const answer = await promise
      if ('fault' in answer) throw new Error(answer.fault)
      return answer
    } finally {
      clearTimeout(timer)
      this.#worker.off('message', resolve)
    }
  }

  #ended(fault: Error): void {
    this.#fault ??= fault
    this.#fail(this.#fault)
  }
}
