import { monotonicMs } from '../clock.ts'
import type { Coding } from '../compression/codings.ts'
import { Body } from '../http1/body.ts'
import { latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'
import { METHOD_HEAD, METHOD_OTHER } from '../http1/request-head.ts'
import { makeRequestId } from './request-id.ts'

/** The max bytes of a body that are read after the relay has answered, in order to keep the connection. */
const MAX_DISCARDED_BYTES = 256 * 1024

/** The state of a request that must last until its answer is sent; one object serves one request after another. */
export class CurrentRequest {
  /** 0 for HTTP/1.0. */
  minorVersion = 1
  /** Whether it is HEAD: its answer has no body. */
  headOnly = false
  /** Whether it may become a byte pipe. */
  upgrading = false
  requestId = ''
  /** The coding that the client wants for the answer; `off` if compression is off for the service. */
  compression: Coding | 'off' = 'off'
  /** Whether the client sends no further request after it. */
  last = false
  /** Whether it may be sent again, because a repetition has no further effect (RFC 9110 9.2.2). */
  replayable = false
  /** Whether its body waits for an interim answer, or it has another expectation, which nothing here can meet. */
  expects = false
  /** Monotonic milliseconds. */
  startedAt = 0
  /** When its head came: earlier, if the request was held meanwhile. */
  arrivedAt = 0
  readonly body = new Body()
  #discarded = 0

  /** Replaces the previous request. For one whose head cannot be read, this is all that is known. */
  begin(headOnly: boolean): void {
    this.startedAt = this.arrivedAt = monotonicMs()
    this.headOnly = headOnly
    this.requestId = ''
    this.compression = 'off'
  }

  /** Takes what must last from the head, which was read from `input`. */
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

  /** Whether its body has arrived, or may still arrive although the request was answered. */
  get discardable(): boolean {
    return this.body.done || (!this.expects && this.body.remaining <= MAX_DISCARDED_BYTES)
  }

  /** Discards the body: returns the index after its part of the input, or -1 if it is malformed or too large. */
  discard(input: Buffer, at: number, end: number): number {
    const stop = this.body.take(input, at, end)
    this.#discarded += stop - at
    return this.#discarded > MAX_DISCARDED_BYTES ? -1 : stop
  }
}
