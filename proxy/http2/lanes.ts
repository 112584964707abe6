import { Client, type AcceptingWorker } from '../relay/client.ts'
import type { Peer } from '../relay/peer.ts'
import { StreamWire, type StreamHost } from './stream-wire.ts'

/** The worker that accepted a connection. */
export interface LaneWorker extends AcceptingWorker {
  /** Serves the requests of a client. */
  serve(client: Client): void
  /** Counts a further stream; false if its network has too many. */
  takePlace(peer: Peer): boolean
  /** Counts a further stream that has ended. */
  leavePlace(peer: Peer): void
}

/** Serves one stream at a time. To the relay it is a kept-alive connection. */
export interface Lane {
  readonly wire: StreamWire
  readonly client: Client
  /** Bytes of the head of its current request. */
  headBytes: number
}

/** The lanes of one connection. */
export class Lanes {
  readonly busy = new Set<Lane>()
  readonly #worker: LaneWorker
  readonly #peer: Peer
  readonly #host: StreamHost
  readonly #free: Lane[] = []
  /** Lanes whose streams have ended, perhaps while the relay is still working on them. */
  readonly #settling: Lane[] = []

  constructor(worker: LaneWorker, peer: Peer, host: StreamHost) {
    this.#worker = worker
    this.#peer = peer
    this.#host = host
  }

  /** Returns a lane for the next stream; null if the client's network has too many. */
  take(): Lane | null {
    // A thousand requests in one read may each be answered at once: then the next can reuse the lane of the one before.
    if (this.#free.length === 0) this.settle()
    // Each further stream counts, as it costs as much as an HTTP/1.1 connection.
    if (this.busy.size > 0 && !this.#worker.takePlace(this.#peer)) return null
    const lane = this.#next()
    this.busy.add(lane)
    return lane
  }

  #next(): Lane {
    for (let lane = this.#free.pop(); lane; lane = this.#free.pop()) if (!lane.wire.closed) return lane
    const wire = new StreamWire(this.#host)
    const client = new Client(this.#worker, this.#peer, wire)
    this.#worker.serve(client)
    return { wire, client, headBytes: 0 }
  }

  /** The lane's stream has ended; `settle` must follow when the relay is done with it. */
  leave(lane: Lane): void {
    this.#settling.push(lane)
  }

  /** Makes lanes whose streams have ended available again. */
  settle(): void {
    while (this.#settling.length > 0) {
      const lane = this.#settling.pop()!
      if (!lane.client.idle) lane.wire.leave()
      else if (!lane.wire.closed) this.#free.push(lane)
      this.busy.delete(lane)
      if (this.busy.size > 0) this.#worker.leavePlace(this.#peer)
    }
  }

  /** Closes the unused lanes. */
  trim(): void {
    for (const { wire } of this.#free.splice(0)) wire.leave()
  }

  /** Ends all lanes. */
  end(): void {
    for (const lane of this.busy) {
      lane.wire.close()
      if (!this.#settling.includes(lane)) this.#settling.push(lane)
    }
    this.settle()
    for (const { wire } of this.#free.splice(0)) wire.leave()
  }
}
