import { Client, type AcceptingWorker } from '../relay/client.ts'
import type { Peer } from '../relay/peer.ts'
import { StreamWire, type StreamHost } from './stream-wire.ts'

/** The worker that a connection was accepted in. */
export interface LaneWorker extends AcceptingWorker {
  /** Looks after the requests of a client. */
  serve(client: Client): void
  /** Counts a stream after the first; false when its network has too many. */
  takePlace(peer: Peer): boolean
  /** Such a stream has ended. */
  leavePlace(peer: Peer): void
}

/** What serves one stream at a time: for the relay a connection that is kept alive. */
export interface Lane {
  readonly wire: StreamWire
  readonly client: Client
  /** Bytes of the head of the request that it serves. */
  headBytes: number
}

/** The lanes of one connection. */
export class Lanes {
  readonly busy = new Set<Lane>()
  readonly #worker: LaneWorker
  readonly #peer: Peer
  readonly #host: StreamHost
  readonly #free: Lane[] = []
  /** Their streams have ended, perhaps amid what the relay does with them. */
  readonly #settling: Lane[] = []

  constructor(worker: LaneWorker, peer: Peer, host: StreamHost) {
    this.#worker = worker
    this.#peer = peer
    this.#host = host
  }

  /** A lane for the next stream; null when the client's network has as many as it may. */
  take(): Lane | null {
    // Of a thousand requests in one read each may be answered at once: the next takes the lane of the one before.
    if (this.#free.length === 0) this.settle()
    // Each costs as much as a connection of HTTP/1.1.
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

  /** The lane's stream has ended; `settle` is to follow when the relay is done with it. */
  leave(lane: Lane): void {
    this.#settling.push(lane)
  }

  /** Makes lanes ready for other streams. */
  settle(): void {
    while (this.#settling.length > 0) {
      const lane = this.#settling.pop()!
      if (!lane.client.idle) lane.wire.leave()
      else if (!lane.wire.closed) this.#free.push(lane)
      this.busy.delete(lane)
      if (this.busy.size > 0) this.#worker.leavePlace(this.#peer)
    }
  }

  /** Lets the lanes go that are not used. */
  trim(): void {
    for (const { wire } of this.#free.splice(0)) wire.leave()
  }

  /** Ends all of them. */
  end(): void {
    for (const lane of this.busy) {
      lane.wire.close()
      if (!this.#settling.includes(lane)) this.#settling.push(lane)
    }
    this.settle()
    for (const { wire } of this.#free.splice(0)) wire.leave()
  }
}
