import type { Tally } from '../counts.ts'
import { FORBIDDEN } from '../edge/answers.ts'
import type { Edge } from '../edge/edge.ts'
import type { Guards } from '../edge/guards.ts'
import { Visit } from '../edge/visit.ts'
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
import { pathOf, proofAnswer, proofPath, secureRedirect, targetRedirect } from './plain.ts'

const NO_BYTES = new Uint8Array(0)

/** The routes that are in force. */
export interface Directory {
  readonly routes: Routes
  readonly guards: Guards
  /** The port of the first `https` listener, to which plain requests are redirected. */
  readonly securePort: number | null
}

/** Where the requests of a connection lead. Looked up again only when the host or the table changes. */
export class Destination {
  target: TargetRoute | null = null
  /** The request at the target's edge; null if the target asks for nothing there. */
  visit: Visit | null = null
  /** The host that was asked for, in lower case and without a port. */
  name = ''
  readonly #directory: Directory
  readonly #peer: Peer
  /** Whether there is a certificate for the host. */
  #certified = false
  /** Whether the connection's certificate is for another host (RFC 9110 15.5.20). */
  #misdirected = false
  /** Whether the request asked for a proof that this is the right server, and so does not count for the target. */
  #proves = false
  /** Created for the first target that asks for something. */
  #visits: Visit | null = null
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

  /** The id of the service whose access log the request is written to; null for none. */
  get accessLog(): string | null {
    return this.target?.logsAccess && !this.#proves ? this.target.counts.id : null
  }

  /**
   * Returns the instance or site that answers, or the answer if the relay answers itself. The head was read from `input` and
   * is copied in the slab. `now` is monotonic milliseconds. A promise means that a password is being checked: once it has
   * resolved, the request has to be read again.
   */
  choose(head: Head, input: Buffer, now: number): Instance | Site | Answer | Promise<void> {
    this.#proves = false
    this.visit = null
    this.#find(head, input)
    if (this.#misdirected) return refusal(421)
    const refused = head.method === METHOD_REFUSED
    const first = refused ? null : this.#answerFirst(head, input)
    if (first) return first
    const judged = this.target?.edge ? this.#judge(this.target.edge, head, now) : null
    if (judged) return judged
    const serving = this.target?.state === 'serving' ? this.target : null
    if (serving?.site && !head.expectsOther) return serving.site
    if (refused) return refusal(405)
    if (head.expectsOther) return refusal(417)
    if (!this.target) return NO_SUCH_HOST
    return (serving && this.#instanceOf(serving, now)) ?? unavailableAnswer(this.target.state)
  }

  /** Max milliseconds from the last byte sent to the answer's head. */
  get upstreamTimeoutMs(): number {
    return this.target?.edge?.upstreamTimeoutMs ?? this.#directory.routes.upstreamTimeoutMs
  }

  /** Whether the target has come under maintenance since it was chosen, for the client of this request. */
  get isMaintained(): boolean {
    // Without a visit, the client of a trusted proxy is not known any more.
    return this.target?.edge?.isClosedTo(this.visit?.address ?? this.#peer.address) ?? false
  }

  /** Forgets the last host: the next request has none that can be read. */
  forget(): void {
    this.target = null
    this.visit = null
    this.#proves = false
    this.#epoch = -1
  }

  /** Returns an answer that comes before the target's own: a proof, or a redirect to TLS or away from the host. */
  #answerFirst(head: Head, input: Buffer): Answer | null {
    const { routes, securePort } = this.#directory
    const redirect = this.target?.redirect
    const proof = proofPath(slab.buffer, slab.at, head)
    if (proof !== null) {
      const answer = proofAnswer(proof, routes)
      this.#proves = answer !== null
      // A host that only redirects has no program that could answer other proofs.
      if (answer || !redirect) return answer
    }
    if (redirect) {
      const address = this.#peer.clientAddress(head.forwarded, routes)
      const isRefused = this.target!.edge?.refuses(address) ?? false
      return isRefused ? FORBIDDEN : targetRedirect(redirect, pathOf(slab.buffer, slab.at, head))
    }
    // In front of us, a trusted proxy has already terminated TLS.
    if (!this.#certified || securePort === null || this.#peer.isSecure(head.forwarded)) return null
    const host = hostName(latin1(input, head.hostStart, head.hostEnd))
    return secureRedirect(host, securePort, pathOf(slab.buffer, slab.at, head))
  }

  /** Returns the instance that the client was led to before, or else the one with the fewest open requests. */
  #instanceOf(target: TargetRoute, now: number): Instance | null {
    const token = this.visit?.token ?? null
    return (token === null ? null : target.find(token, now)) ?? target.choose(now, null)
  }

  #judge(edge: Edge, head: Head, now: number): Answer | Promise<void> | null {
    const { routes, guards } = this.#directory
    this.visit = this.#visits ??= new Visit(guards)
    const address = this.#peer.clientAddress(head.forwarded, routes)
    const secure = this.#peer.isSecure(head.forwarded)
    return this.visit.judge(edge, { head, output: slab.buffer, at: slab.at, address, secure, now })
  }

  #find({ hostStart, hostEnd }: Head, input: Buffer): void {
    const { routes } = this.#directory
    const host = this.#host
    let same = this.#epoch === routes.epoch && host.length === hostEnd - hostStart
    for (let index = 0; same && index < host.length; index++) same = host[index] === input[hostStart + index]
    if (same) return
    this.#host = Uint8Array.prototype.slice.call(input, hostStart, hostEnd)
    this.#epoch = routes.epoch
    const name = (this.name = hostName(latin1(input, hostStart, hostEnd)))
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
