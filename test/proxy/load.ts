import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST } from './stand.ts'

/** What happened to the requests of a load. */
export interface LoadResult {
  answered: number
  /** Every request that did not get a 200, with what it got. */
  failures: string[]
  bodies: Set<string>
}

/** Requests on kept-alive and on fresh connections, at about `perSecond`, until `stop`. */
export class Load {
  readonly result: LoadResult = { answered: 0, failures: [], bodies: new Set() }
  #kept = new Agent({ keepAlive: true, maxSockets: 20 })
  #fresh = new Agent({ keepAlive: false })
  #stopping = new AbortController()
  #done: Promise<void>
  #open = new Set<Promise<void>>()

  constructor(port: () => number, perSecond: number) {
    this.#done = this.#run(port, perSecond)
  }

  async stop(): Promise<LoadResult> {
    this.#stopping.abort()
    await this.#done
    await Promise.all(this.#open)
    this.#kept.destroy()
    return this.result
  }

  async #run(port: () => number, perSecond: number): Promise<void> {
    const started = performance.now()
    for (let sent = 0; !this.#stopping.signal.aborted; sent++) {
      const due = started + (sent / perSecond) * 1000
      const wait = due - performance.now()
      if (wait > 1) await sleep(wait)
      const one = this.#one(port(), sent)
      this.#open.add(one)
      void one.then(() => this.#open.delete(one))
    }
  }

  #one(port: number, number: number): Promise<void> {
    const agent = number % 2 === 0 ? this.#kept : this.#fresh
    // A quarter has a body, which the proxy may not send twice.
    const method = number % 8 >= 6 ? 'POST' : 'GET'
    return new Promise((resolve) => {
      const fail = (what: string) => {
        this.result.failures.push(`${method} ${number}: ${what}`)
        resolve()
      }
      const outgoing = request(
        { host: '127.0.0.1', port, agent, method, path: `/${number}`, headers: { host: HOST } },
        (response) => {
          let body = ''
          response.setEncoding('utf8')
          response.on('data', (piece: string) => (body += piece))
          response.on('error', (error) => fail(error.message))
          response.on('end', () => {
            if (response.statusCode !== 200) return fail(`status ${response.statusCode}`)
            if (!body.startsWith(`/${number} `)) return fail(`the answer of another: ${body}`)
            this.result.answered++
            this.result.bodies.add(body.split(' ')[1]!)
            resolve()
          })
        },
      )
      outgoing.on('error', (error) =>
        fail(`${error.message}${outgoing.reusedSocket ? ' on a reused connection' : ''}`),
      )
      outgoing.end(method === 'POST' ? 'some body' : undefined)
    })
  }
}
