import { monotonicMs } from '../clock.ts'
import type { Coding } from '../compression/codings.ts'
import { Body } from '../http1/body.ts'
import { latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'
import { METHOD_HEAD, METHOD_OTHER } from '../http1/request-head.ts'
import { makeRequestId } from './request-id.ts'

/** The body of a request that the relay answers itself is read up to here to keep the connection. */
const MAX_DISCARDED_BYTES = 256 * 1024

/** What of a request must last as long as its answer; the object serves one request after another. */
export class CurrentRequest {
  /** 0 for HTTP/1.0. */
  minorVersion = 1
  /** It is HEAD: its answer has no body. */
  headOnly = false
  /** It may become a byte pipe. */
  upgrading = false
  requestId = ''
  /** What the client would have the answer compressed by; `off` where the service's answers go out as they come. */
  compression: Coding | 'off' = 'off'
  /** The client wants no other after it. */
  last = false
  /** It may be sent again, as nothing happens twice (RFC 9110 9.2.2). */
  replayable = false
  /** Its body waits for an answer; or another expectation stands, that nobody meets. */
  expects = false
  /** Monotonic milliseconds. */
  startedAt = 0
  readonly body = new Body()
  #discarded = 0

  /** Takes the place of the one before; of this one no more may become known. */
  begin(headOnly: boolean): void {
    this.startedAt = monotonicMs()
    this.headOnly = headOnly
    this.requestId = ''
    this.compression = 'off'
  }

  /** Takes over what must last from the head, which was read from `input`. */
  describe(head: Head, input: Buffer): void {
    this.begin(head.method === METHOD_HEAD)
    this.minorVersion = head.minorVersion
    this.last = head.close || head.minorVersion === 0
    if (head.chunked) this.body.chunked()
    else this.body.length(Math.max(head.contentLength, 0))
    this.#discarded = 0
    const whole = this.body.done
    this.replayable = whole && head.method !== METHOD_OTHER
    this.expects = (head.expectsContinue && head.minorVersion === 1) || head.expectsOther
    this.upgrading = head.upgrade && head.connectionUpgrade && whole && head.minorVersion === 1
    const { requestIdStart, requestIdEnd } = head
    this.requestId = requestIdStart > 0 ? latin1(input, requestIdStart, requestIdEnd) : makeRequestId()
  }

  /** Its body has come, or may come although it was answered. */
  get discardable(): boolean {
    return this.body.done || (!this.expects && this.body.remaining <= MAX_DISCARDED_BYTES)
  }

  /** Reads its body for nothing: answers the index after what belongs to it, -1 when it is malformed or too much. */
  discard(input: Buffer, at: number, end: number): number {
    const stop = this.body.take(input, at, end)
    this.#discarded += stop - at
    return this.#discarded > MAX_DISCARDED_BYTES ? -1 : stop
  }
}
