import type { OpenFiles } from '../sites/open-files.ts'
import type { Wire } from '../wire/wire.ts'
import type { AccessLog } from './access-log.ts'
import type { Directory } from './destination.ts'
import type { Peer } from './peer.ts'

/** The worker that serves the requests. */
export interface ServingWorker extends Directory {
  /** The files of sites that are being sent. */
  readonly files: OpenFiles
  readonly accessLog: AccessLog
  /** Monotonic milliseconds, as of the last tick. */
  readonly now: number
  /** Whether connections end after their answers. */
  readonly retiring: boolean
}

/** The connection that a request came over. */
export interface ClientConnection {
  readonly wire: Wire
  readonly peer: Peer
  /** Whether the client has sent FIN. */
  readonly ended: boolean
  /** Whether the client has sent FIN, and nothing after the current request. */
  readonly hasNoMore: boolean
  /** Monotonic milliseconds at which the current wait times out; 0 for no timeout. */
  deadline: number
  /** The whole answer was sent: the next request follows or, with `last`, the connection ends. */
  answerSent(last: boolean): void
  /** The answer was sent before the request's body arrived: reads the body all the same. */
  discardBody(): void
  /** Sends what the client sent before the tunnel existed through it. */
  passEarlyBytes(): void
  /** Breaks off an answer that has begun, so that the client does not take it for complete. */
  cutAnswer(): void
  /** Ends the connection at once. */
  cut(): void
}
