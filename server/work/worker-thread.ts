import { Worker } from 'node:worker_threads'
import { Slots } from './slots.ts'

/** A program that threads run, and what one of them may take. */
export interface ThreadOptions {
  program: string
  /** For the program's `workerData`. */
  data?: unknown
  maxHeapMib: number
  /** An answer that takes longer ends the thread. */
  limitMs: number
}

/** What a program answers that met an error of its own. */
export interface ThreadFault {
  fault: string
}

/** A thread has ended without the answer: it took too long or too much memory, or was ended. */
export class ThreadEnded extends Error {}

/**
 * A thread that answers one question after another, so that no text of anybody's holds up the server. It gets nothing of the
 * server's environment. It must be ended.
 */
export class WorkerThread<Question, Answer extends object> {
  readonly #worker: Worker
  readonly #limitMs: number
  /** It answers one question at a time. */
  readonly #turn = new Slots(1)
  /** Why it has ended. */
  #fault: Error | null = null
  /** Tells who waits for an answer. */
  #fail: (fault: Error) => void = () => {}

  constructor({ program, data, maxHeapMib, limitMs }: ThreadOptions) {
    this.#limitMs = limitMs
    this.#worker = new Worker(program, {
      workerData: data,
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMib },
    })
    this.#worker.unref()
    this.#worker.once('error', (error: Error & { code?: string }) =>
      this.#ended(error.code === 'ERR_WORKER_OUT_OF_MEMORY' ? new ThreadEnded(error.message) : error),
    )
    this.#worker.once('exit', () => this.#ended(new ThreadEnded('the thread has ended')))
  }

  /** To be told when it has ended, however that came. */
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
