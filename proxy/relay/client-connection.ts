import type { OpenFiles } from '../sites/open-files.ts'
import type { Wire } from '../wire/wire.ts'
import type { Directory } from './destination.ts'
import type { Peer } from './peer.ts'

/** The worker that requests are served in. */
export interface ServingWorker extends Directory {
  /** The files of sites that are being sent. */
  readonly files: OpenFiles
  /** Monotonic milliseconds, as of the last tick. */
  readonly now: number
  /** Connections end after their answers. */
  readonly retiring: boolean
}

/** The connection that a request came over. */
export interface ClientConnection {
  readonly wire: Wire
  readonly peer: Peer
  /** The client has sent FIN. */
  readonly ended: boolean
  /** The client has sent FIN and nothing after the request under way. */
  readonly hasNoMore: boolean
  /** Monotonic milliseconds after which what is waited for has not come; 0 for none. */
  deadline: number
  /** The answer has gone out as a whole: the next request follows, or with `last` the end. */
  over(last: boolean): void
  /** The answer has gone out before the request's body came, which is read all the same. */
  discardBody(): void
  /** What the client sent before there was a tunnel goes through it. */
  passEarlyBytes(): void
  /** The answer that has begun ends here, so that it is not taken for a whole one. */
  cutAnswer(): void
  /** Ends the connection at once. */
  cut(): void
}
