import { request } from 'node:http'
import type { Duplex } from 'node:stream'

const HEADER_BYTES = 8
const STDERR = 2
/** How much of a program's standard error is kept; the reason is at the end. */
const KEPT_ERROR_BYTES = 4 * 1024

/**
 * The streams of a container's program as raw bytes, with back-pressure in both directions. The engine sends frames of an
 * 8-byte header (stream, length) and a payload (Engine API, "Attach to a container", stream format).
 */
export class Attachment {
  readonly #socket: Duplex
  #errors: Buffer = Buffer.alloc(0)

  /** The signal ends it. */
  constructor(socket: Duplex, signal: AbortSignal) {
    this.#socket = socket
    // Each use handles an error itself; an error between two uses must not end the server.
    socket.on('error', () => {})
    const close = (): void => this.close()
    signal.addEventListener('abort', close)
    socket.once('close', () => signal.removeEventListener('abort', close))
    if (signal.aborted) close()
  }

  /** The end of what the program printed on standard error so far. */
  get errors(): string {
    return this.#errors.toString('utf8').trim()
  }

  /** What the program prints on standard output, until it ends. */
  async *output(): AsyncGenerator<Buffer, void> {
    let header: Buffer = Buffer.alloc(0)
    let stream = 0
    let left = 0
    for await (const chunk of this.#socket as AsyncIterable<Buffer>) {
      let rest = chunk
      while (rest.length > 0) {
        if (left === 0) {
          const missing = HEADER_BYTES - header.length
          header = Buffer.concat([header, rest.subarray(0, missing)])
          rest = rest.subarray(missing)
          if (header.length < HEADER_BYTES) break
          stream = header[0]!
          left = header.readUInt32BE(4)
          header = Buffer.alloc(0)
          continue
        }
        const payload = rest.subarray(0, left)
        rest = rest.subarray(left)
        left -= payload.length
        if (stream === STDERR) this.#keep(payload)
        else yield payload
      }
    }
  }

  /** Writes the program's standard input and ends it, or stops when the program is gone. Throws what `source` throws. */
  async input(source: AsyncIterable<Buffer>): Promise<void> {
    for await (const chunk of source) {
      if (this.#socket.destroyed) return
      if (!this.#socket.write(chunk)) await drainedOrClosed(this.#socket)
    }
    this.#socket.end()
  }

  /** Closes the connection to the program. */
  close(): void {
    this.#socket.destroy()
  }

  #keep(payload: Buffer): void {
    const all = Buffer.concat([this.#errors, payload])
    this.#errors = all.subarray(Math.max(0, all.length - KEPT_ERROR_BYTES))
  }
}

function drainedOrClosed(socket: Duplex): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done)
      socket.off('close', done)
      resolve()
    }
    socket.on('drain', done)
    socket.on('close', done)
    if (socket.destroyed) done()
  })
}

/**
 * Takes over the connection of a request that attaches to a program. Does not use dockerode, which sends the body in pieces:
 * a piece that arrives late would become the program's input.
 */
export function takeOver(
  socketPath: string,
  path: string,
  signal: AbortSignal,
  body?: Record<string, unknown>,
): Promise<Duplex> {
  const content = body === undefined ? '' : JSON.stringify(body)
  const headers = {
    host: 'engine',
    connection: 'Upgrade',
    upgrade: 'tcp',
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(content),
  }
  return new Promise((resolve, reject) => {
    const outgoing = request({ socketPath, path, method: 'POST', headers, signal })
    outgoing.on('error', reject)
    outgoing.on('upgrade', (_response, socket, head) => {
      if (head.length > 0) socket.unshift(head)
      resolve(socket)
    })
    outgoing.on('response', (response) => {
      response.resume()
      const statusCode = response.statusCode ?? 0
      reject(Object.assign(new Error(`the engine answered ${statusCode}`), { statusCode }))
    })
    outgoing.end(content)
  })
}
