import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** Each takes some 35 KiB and a file descriptor; an administrator's browsers and programs need some dozens. */
const MAX_CONNECTIONS = 4_096

/**
 * Bounds how many connections are open, whoever they are from: for one too many the longest idle one is closed, so that
 * who holds many keeps nobody out.
 */
export class Connections {
  readonly #limit: number
  /** Without a request under way, longest idle first. */
  readonly #idle = new Set<Socket>()
  /** With the newest request's answer, the one whose request is oldest first. */
  readonly #busy = new Map<Socket, ServerResponse>()

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

  /** Notes that a request is under way until its answer has gone out. */
  began(socket: Socket, response: ServerResponse): void {
    this.#idle.delete(socket)
    this.#busy.delete(socket)
    this.#busy.set(socket, response)
    response.once('close', () => {
      if (this.#busy.get(socket) !== response) return
      this.#busy.delete(socket)
      if (!socket.destroyed) this.#idle.add(socket)
    })
  }

  /** Whether an answer on this connection has begun and not ended. */
  isAnswering(socket: Socket): boolean {
    return this.#busy.get(socket)?.headersSent ?? false
  }

  #closeOne(): void {
    const [socket] = this.#idle.size > 0 ? this.#idle : this.#busy.keys()
    this.#idle.delete(socket!)
    this.#busy.delete(socket!)
    socket!.destroy()
  }
}
