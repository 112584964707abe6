import type { Tally } from '../counts.ts'
import { latin1 } from '../http1/bytes.ts'
import type { Head } from '../http1/head.ts'
import { METHOD_REFUSED } from '../http1/request-head.ts'
import { NO_SUCH_HOST, refusal, unavailableAnswer, type Answer } from '../pages/answers.ts'
import { hostName } from '../routes/host-map.ts'
import type { Instance } from '../routes/instance.ts'
import type { Routes } from '../routes/routes.ts'
import type { TargetRoute } from '../routes/target-route.ts'
import type { Site } from '../sites/site.ts'
import { slab } from '../wire/slab.ts'
import type { Peer } from './peer.ts'
import { canonicalRedirect, pathOf, proofAnswer, proofPath, secureRedirect } from './plain.ts'

const NO_BYTES = new Uint8Array(0)

/** The routes that are in force. */
export interface Directory {
  readonly routes: Routes
  /** The port of the first `https` listener, to which plain requests are redirected. */
  readonly securePort: number | null
}

/** Where the requests of a connection lead. Looked up again only when the host or the table changes. */
export class Destination {
  target: TargetRoute | null = null
  readonly #directory: Directory
  readonly #peer: Peer
  /** Whether there is a certificate for the host. */
  #certified = false
  /** Whether the connection's certificate is for another host (RFC 9110 15.5.20). */
  #misdirected = false
  /** Whether the request asked for a proof that this is the right server, and so does not count for the target. */
  #proves = false
  #host: Uint8Array = NO_BYTES
  #epoch = -1

  constructor(directory: Directory, peer: Peer) {
    this.#directory = directory
    this.#peer = peer
  }

  /** Where the request is counted. */
  get counts(): Tally {
    const { unrouted } = this.#directory.routes
    return this.#proves ? unrouted : (this.target?.counts ?? unrouted)
  }

  /**
   * Returns the instance or site that answers, or the answer if the relay answers itself. The head was read from `input` and
   * is copied in the slab. `now` is monotonic milliseconds.
   */
  choose(head: Head, input: Buffer, now: number): Instance | Site | Answer {
    this.#proves = false
    this.#find(head, input)
    if (this.#misdirected) return refusal(421)
    const refused = head.method === METHOD_REFUSED
    const first = refused ? null : this.#answerFirst(head, input)
    if (first) return first
    const serving = this.target?.state === 'serving' ? this.target : null
    if (serving?.site && !head.expectsOther) return serving.site
    if (refused) return refusal(405)
    if (head.expectsOther) return refusal(417)
    if (!this.target) return NO_SUCH_HOST
    return serving?.choose(now, null) ?? unavailableAnswer(this.target.state)
  }

  /** Forgets the last host: the next request has none that can be read. */
  forget(): void {
    this.target = null
    this.#proves = false
    this.#epoch = -1
  }

  /** Returns an answer that comes before the target's own: a proof, or a redirect to TLS or to the canonical host. */
  #answerFirst(head: Head, input: Buffer): Answer | null {
    const { routes, securePort } = this.#directory
    const canonical = this.target?.redirect
    const proof = proofPath(slab.buffer, slab.at, head)
    if (proof !== null) {
      const answer = proofAnswer(proof, routes)
      this.#proves = answer !== null
      // A host that only redirects has no program that could answer other proofs.
      if (answer || !canonical) return answer
    }
    if (canonical) return canonicalRedirect(canonical, pathOf(slab.buffer, slab.at, head))
    // In front of us, a trusted proxy has already terminated TLS.
    if (
      this.#peer.secure ||
      !this.#certified ||
      securePort === null ||
      head.forwarded?.get('x-forwarded-proto') === 'https'
    )
      return null
    const host = hostName(latin1(input, head.hostStart, head.hostEnd))
    return secureRedirect(host, securePort, pathOf(slab.buffer, slab.at, head))
  }

  #find({ hostStart, hostEnd }: Head, input: Buffer): void {
    const { routes } = this.#directory
    const host = this.#host
    let same = this.#epoch === routes.epoch && host.length === hostEnd - hostStart
    for (let index = 0; same && index < host.length; index++) same = host[index] === input[hostStart + index]
    if (same) return
    this.#host = Uint8Array.prototype.slice.call(input, hostStart, hostEnd)
    this.#epoch = routes.epoch
    const name = hostName(latin1(input, hostStart, hostEnd))
    this.target = routes.find(name) ?? null
    const certificate = routes.findCertificate(name)
    this.#certified = certificate !== undefined
    const { serverName } = this.#peer
    this.#misdirected =
      this.target !== null &&
      serverName !== null &&
      serverName !== name &&
      routes.findCertificate(serverName)?.certificate !== certificate?.certificate
  }
}
