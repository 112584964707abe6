import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LINGER_BYTES, LINGER_MS } from './refuse.ts'

/** Each takes some 35 KiB and a file descriptor; an administrator's browsers and programs need a few dozen. */
const MAX_CONNECTIONS = 4_096
/** How many requests a client may send ahead before the first is answered. Browsers and libraries send none. */
const MAX_WAITING = 16

/** A request that waits for its turn. */
interface Waiting {
  response: ServerResponse
  handle: () => void
}

/** A connection with a request in progress. */
interface Busy {
  response: ServerResponse
  waiting: Waiting[]
  /** Set when something invalid came after all of them: how to refuse it once they are answered. */
  refuse: (() => void) | null
}

/**
 * Limits connections and requests, from any client. When there is one connection too many, the one that is idle the
 * longest is closed, so that a client with many connections keeps nobody else out. A connection has one request in progress,
 * and starts the next only after the previous answer was sent, so that nothing is computed for a client that does not read
 * or has left.
 */
export class Connections {
  readonly #limit: number
  /** Connections without a request in progress, longest idle first. */
  readonly #idle = new Set<Socket>()
  /** Connections with a request in progress, oldest request first. */
  readonly #busy = new Map<Socket, Busy>()

  constructor(limit: number = MAX_CONNECTIONS) {
    this.#limit = limit
  }

  /** Registers a new connection. */
  opened(socket: Socket): void {
    if (this.#idle.size + this.#busy.size >= this.#limit) this.#closeOne()
    this.#idle.add(socket)
    socket.once('close', () => {
      this.#idle.delete(socket)
      this.#busy.delete(socket)
    })
  }

  /** Whether a connection has no request in progress. */
  isIdle(socket: Socket): boolean {
    return this.#idle.has(socket)
  }

  /**
   * Calls `handle` when it is the request's turn. Never calls it when the connection has ended, too many requests wait, or
   * the request was refused before it was complete, in which case the refusal is its answer.
   */
  take(socket: Socket, response: ServerResponse, handle: () => void): void {
    if (socket.destroyed || socket.writableEnded) return
    const busy = this.#busy.get(socket)
    if (!busy) this.#begin(socket, { response, waiting: [], refuse: null }, handle)
    else if (busy.refuse) return
    else if (busy.waiting.length < MAX_WAITING) busy.waiting.push({ response, handle })
    else socket.destroy()
  }

  /**
   * Handles something that is not a valid request or body. Calls `refuse` once all earlier requests are answered, because a
   * client would take the refusal for one of those answers; only once, however much more follows. When the answer to an
   * incomplete request has begun, the connection is closed instead: a refusal would be a second answer.
   */
  onInvalid(socket: Socket, refuse: () => void): void {
    const busy = this.#busy.get(socket)
    if (!busy) return refuse()
    if (busy.refuse) return
    const { response, waiting } = busy
    if (response.req.complete) {
      busy.waiting = waiting.filter(({ response }) => response.req.complete)
      busy.refuse = refuse
    } else if (response.headersSent) socket.destroy()
    else refuse()
  }

  #begin(socket: Socket, busy: Busy, handle: () => void): void {
    this.#idle.delete(socket)
    this.#busy.delete(socket)
    this.#busy.set(socket, busy)
    const { response } = busy
    // Runs before node's own listener, which would discard an unread body without counting it.
    response.prependOnceListener('finish', () => discard(response.req))
    response.once('close', () => this.#goOn(socket, busy))
    handle()
  }

  /** After an answer, continues with what follows its request on the connection. */
  #goOn(socket: Socket, busy: Busy): void {
    // An answer that announces the connection's end is the last one (RFC 9112, section 9.6).
    if (this.#busy.get(socket) !== busy || socket.destroyed || socket.writableEnded) return
    const { response, refuse } = busy
    if (!response.req.complete) {
      const timer = setTimeout(() => socket.destroy(), LINGER_MS).unref()
      response.req.once('end', () => {
        clearTimeout(timer)
        this.#goOn(socket, busy)
      })
      return
    }
    const [next, ...waiting] = busy.waiting
    if (next) return this.#begin(socket, { response: next.response, waiting, refuse }, next.handle)
    if (refuse) return refuse()
    this.#busy.delete(socket)
    this.#idle.add(socket)
  }

  #closeOne(): void {
    const [socket] = this.#idle.size > 0 ? this.#idle : this.#busy.keys()
    this.#idle.delete(socket!)
    this.#busy.delete(socket!)
    socket!.destroy()
  }
}

/**
 * Reads the rest of the body of an answered request. node stops reading a body that was read in part, and so would never get
 * to the next request. The listener keeps it flowing even when a reader of the body stops later.
 */
function discard(request: IncomingMessage): void {
  let bytes = 0
  request.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > LINGER_BYTES) request.destroy()
  })
  request.resume()
}
