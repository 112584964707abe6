import { Agent, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'

/** Where requests are answered. */
export interface Door {
  host: string
  httpPort: number
}

/** How many requests are open at once: the most that may fail when a node with all instances is lost. */
export const CLIENTS = 8
const PAUSE_MS = 10
/** Longer than the data plane takes to find that a node is gone. */
const PATIENCE_MS = 30_000

/** What became of the requests of a load. */
export interface Answers {
  answered: number
  /** What each failed request got instead. */
  failures: string[]
  /** The different bodies of the answers. */
  bodies: Set<string>
}

/** Clients that each ask for a host's first page, again and again: half of them on kept connections, the others on fresh ones. */
export class Load {
  readonly answers: Answers = { answered: 0, failures: [], bodies: new Set() }
  readonly #door: Door
  readonly #host: string
  readonly #kept = new Agent({ keepAlive: true })
  readonly #clients: Promise<void>[]
  #isOver = false

  constructor(door: Door, host: string) {
    this.#door = door
    this.#host = host
    this.#clients = Array.from({ length: CLIENTS }, (_, index) => this.#client(index % 2 === 0))
  }

  /** Ends it after the requests that are open, and returns what became of all. */
  async stop(): Promise<Answers> {
    this.#isOver = true
    await Promise.all(this.#clients)
    this.#kept.destroy()
    return this.answers
  }

  async #client(keeps: boolean): Promise<void> {
    for (; !this.#isOver; await sleep(PAUSE_MS)) {
      try {
        this.answers.bodies.add(await this.#ask(keeps))
        this.answers.answered++
      } catch (error) {
        this.answers.failures.push(`${new Date().toISOString()} ${(error as Error).message}`)
      }
    }
  }

  #ask(keeps: boolean): Promise<string> {
    const { promise, resolve, reject } = Promise.withResolvers<string>()
    const { host, httpPort: port } = this.#door
    const agent = keeps ? this.#kept : false
    const signal = AbortSignal.timeout(PATIENCE_MS)
    request({ host, port, agent, signal, headers: { host: this.#host } }, (response) => {
      text(response).then((body) => {
        if (response.statusCode === 200) resolve(body.trim())
        // Of an error page what it says.
        else reject(new Error(`${response.statusCode} ${/<p>(.*?)<\/p>/.exec(body)?.[1] ?? body}`))
      }, reject)
    })
      .on('error', reject)
      .end()
    return promise
  }
}
