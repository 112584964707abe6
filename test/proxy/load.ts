import { Agent as PlainAgent, request as requestPlain } from 'node:http'
import { connect, constants, type ClientHttp2Session } from 'node:http2'
import { Agent as SecureAgent, request as requestSecure } from 'node:https'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { HOST } from './stand.ts'

/** What happened to the requests of a load. */
export interface LoadResult {
  answered: number
  /** Every request that did not get a 200, with what it got. */
  failures: string[]
  bodies: Set<string>
}

interface Question {
  number: number
  method: 'GET' | 'POST'
}

/** A client of one protocol. */
export interface LoadClient {
  /** Requests `/<number>`; throws what the connection ended with. */
  ask(question: Question): Promise<{ status: number; body: string }>
  close(): void
}

/** So many open at once mean a machine that does not keep up: more would wait in it for seconds. */
const MOST_OPEN = 200

/** Requests at about `perSecond`, or as many as the machine answers, until `stop`. */
export class Load {
  readonly result: LoadResult = { answered: 0, failures: [], bodies: new Set() }
  /** The number of the next request. */
  next = 0
  #client: LoadClient
  #stopping = new AbortController()
  #done: Promise<void>
  #open = new Set<Promise<void>>()

  constructor(client: LoadClient, perSecond: number) {
    this.#client = client
    this.#done = this.#run(perSecond)
  }

  async stop(): Promise<LoadResult> {
    this.#stopping.abort()
    await this.#done
    await Promise.all(this.#open)
    this.#client.close()
    return this.result
  }

  async #run(perSecond: number): Promise<void> {
    const started = performance.now()
    for (; !this.#stopping.signal.aborted; this.next++) {
      const due = started + (this.next / perSecond) * 1000
      const wait = due - performance.now()
      if (wait > 1) await sleep(wait)
      while (this.#open.size >= MOST_OPEN && !this.#stopping.signal.aborted) await sleep(1)
      const one = this.#one(this.next)
      this.#open.add(one)
      void one.then(() => this.#open.delete(one))
    }
  }

  async #one(number: number): Promise<void> {
    // A quarter has a body, which the proxy may not send twice.
    const method = number % 8 >= 6 ? 'POST' : 'GET'
    try {
      const { status, body } = await this.#client.ask({ number, method })
      if (status !== 200) throw new Error(`status ${status}`)
      if (!body.startsWith(`/${number} `)) throw new Error(`the answer of another: ${body}`)
      this.result.answered++
      this.result.bodies.add(body.split(' ')[1]!)
    } catch (error) {
      this.result.failures.push(`${method} ${number}: ${(error as Error).message}`)
    }
  }
}

/** HTTP/1.1, on kept-alive and on fresh connections in turn. */
export function http1(port: () => number, { secure = false } = {}): LoadClient {
  const Agent = secure ? SecureAgent : PlainAgent
  const request = secure ? requestSecure : requestPlain
  const kept = new Agent({ keepAlive: true, maxSockets: 20 })
  const fresh = new Agent({ keepAlive: false })
  const options = secure
    ? { host: '127.0.0.2', servername: HOST, rejectUnauthorized: false }
    : { host: '127.0.0.1' }
  return {
    ask: ({ number, method }) =>
      new Promise((resolve, reject) => {
        const agent = number % 2 === 0 ? kept : fresh
        const outgoing = request(
          { ...options, port: port(), agent, method, path: `/${number}`, headers: { host: HOST } },
          (response) => {
            text(response).then((body) => resolve({ status: response.statusCode!, body }), reject)
          },
        )
        outgoing.on('error', (error) => {
          reject(new Error(`${error.message}${outgoing.reusedSocket ? ' on a reused connection' : ''}`))
        })
        outgoing.end(method === 'POST' ? 'some body' : undefined)
      }),
    close: () => kept.destroy(),
  }
}

/** HTTP/2, on one connection until the server asks for another. Repeats what was refused, as browsers do (RFC 9113 8.7). */
export function http2(port: () => number): LoadClient {
  let current: ClientHttp2Session | null = null
  const session = (): ClientHttp2Session => {
    if (current && !current.closed && !current.destroyed) return current
    current = connect(`https://127.0.0.2:${port()}`, { servername: HOST, rejectUnauthorized: false })
    current.on('error', () => {})
    return current
  }
  const ask: LoadClient['ask'] = async (question) => {
    const { number, method } = question
    const stream = session().request({ ':authority': HOST, ':method': method, ':path': `/${number}` })
    let status = 0
    stream.on('response', (headers) => (status = headers[':status']!))
    stream.end(method === 'POST' ? 'some body' : undefined)
    try {
      return { body: await text(stream), status }
    } catch (error) {
      if (stream.rstCode === constants.NGHTTP2_REFUSED_STREAM) return ask(question)
      throw error
    }
  }
  return { ask, close: () => current?.close() }
}
