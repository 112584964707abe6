import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { LINGER_BYTES, LINGER_MS } from './refuse.ts'

/** Each takes some 35 KiB and a file descriptor; an administrator's browsers and programs need some dozens. */
const MAX_CONNECTIONS = 4_096
/** Requests that one may send before the answer to the first has come: browsers and libraries send none. */
const MAX_WAITING = 16

/** A request whose turn has not come. */
interface Waiting {
  response: ServerResponse
  handle: () => void
}

/** A connection with a request under way. */
interface Busy {
  response: ServerResponse
  waiting: Waiting[]
  /** What came behind all of them is no request: what is to be done about it after their answers. */
  refuse: (() => void) | null
}

/**
 * Bounds what is open, whoever it is from: for one connection too many the longest idle one is closed, so that who holds
 * many keeps nobody out; and a connection has one request under way, the next when the answer before has gone out, so that
 * nothing is made for who does not read it or has left.
 */
export class Connections {
  readonly #limit: number
  /** Without a request under way, longest idle first. */
  readonly #idle = new Set<Socket>()
  /** The one whose request is oldest first. */
  readonly #busy = new Map<Socket, Busy>()

  constructor(limit: number = MAX_CONNECTIONS) {
    this.#limit = limit
  }

  /** Takes a new connection in. */
  opened(socket: Socket): void {
    if (this.#idle.size + this.#busy.size >= this.#limit) this.#closeOne()
    this.#idle.add(socket)
    socket.once('close', () => {
      this.#idle.delete(socket)
      this.#busy.delete(socket)
    })
  }

  /**
   * Calls `handle` when it is a request's turn; not for one whose connection has ended, that is one too many, or that was
   * refused before it was whole: its refusal is its answer.
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
   * What came is no request, or no body of one: calls `refuse` when nothing is left to be answered before, as it would be
   * taken for that answer; once, however much of the kind follows. What has begun to be answered, or was, before it was
   * whole is cut: a refusal behind it would be a second answer.
   */
  spoiled(socket: Socket, refuse: () => void): void {
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
    // Ahead of node's own listener, which would have a body that nobody began to read thrown away uncounted.
    response.prependOnceListener('finish', () => discard(response.req))
    response.once('close', () => this.#goOn(socket, busy))
    handle()
  }

  /** After an answer, with what comes behind its request. */
  #goOn(socket: Socket, busy: Busy): void {
    // An answer that says that it is the last one ends the connection behind it (RFC 9112, section 9.6).
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
 * Reads what is left of an answered request's body, as node reads no more of one that was begun and left, and so nothing
 * that comes behind it. With a listener it flows also when who began to read leaves only later.
 */
function discard(request: IncomingMessage): void {
  let bytes = 0
  request.on('data', (piece: Buffer) => {
    bytes += piece.length
    if (bytes > LINGER_BYTES) request.destroy()
  })
  request.resume()
}
