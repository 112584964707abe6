import type { Answer } from '../pages/answers.ts'
import type { Edge as EdgeSpec } from '../protocol.ts'
import { AddressSet } from './addresses.ts'
import { maintenanceAnswer } from './answers.ts'
import { BasicAuth } from './basic-auth.ts'
import { PathRules } from './path-rules.ts'
import { RateLimit, type Turn } from './rate-limit.ts'

/** Wrong passwords from one address: ten at once, then one in half a minute. */
const WRONG_PASSWORDS = { requests: 10, periodMs: 300_000, burst: 10 }

interface Maintenance {
  answer: Answer
  /** Who passes nevertheless. */
  allow: AddressSet
}

/** What a service asks for its requests, ready to use. What must outlast a change of it is in `Guards`. */
export class Edge {
  readonly allow: AddressSet | null
  readonly paths: PathRules | null
  readonly maintenance: Maintenance | null
  readonly rateLimit: RateLimit | null
  readonly basicAuth: BasicAuth | null
  readonly wrongPasswords: RateLimit
  readonly hasAffinity: boolean
  readonly upstreamTimeoutMs: number | null
  readonly maxBodyBytes: number
  readonly #policyLine: string

  /** `id` is that of the target. Throws if the edge was not checked with the table. */
  constructor(id: string, spec: EdgeSpec) {
    const { allow, maintenance, rate_limit, basic_auth } = spec
    this.allow = allow ? new AddressSet(allow) : null
    this.paths = PathRules.of(spec)
    this.maintenance = maintenance
      ? { answer: maintenanceAnswer(maintenance), allow: new AddressSet(maintenance.allow ?? []) }
      : null
    this.rateLimit = rate_limit
      ? new RateLimit(`${id} requests`, { ...rate_limit, periodMs: rate_limit.period_seconds * 1_000 })
      : null
    this.basicAuth = basic_auth ? new BasicAuth(basic_auth) : null
    // The services of an environment may have the same users: guesses at one are guesses at all.
    this.wrongPasswords = new RateLimit(`${this.basicAuth?.version ?? id} passwords`, WRONG_PASSWORDS)
    this.hasAffinity = spec.session_affinity ?? false
    this.upstreamTimeoutMs = spec.upstream_timeout_ms ?? null
    this.maxBodyBytes = spec.max_body_bytes ?? Infinity
    this.#policyLine = rate_limit
      ? `RateLimit-Policy: "default";q=${rate_limit.requests};w=${rate_limit.period_seconds}\r\n`
      : ''
  }

  /** Whether clients with this address may not use the service. */
  refuses(address: string): boolean {
    return this.allow !== null && !this.allow.has(address)
  }

  /** Whether clients with this address are turned away for maintenance. */
  isClosedTo(address: string): boolean {
    return this.maintenance !== null && !this.maintenance.allow.has(address)
  }

  /** Returns the lines that tell a client how much of the limit is left (draft-ietf-httpapi-ratelimit-headers-10). */
  rateLines({ left, resetSeconds }: Turn): string {
    return `${this.#policyLine}RateLimit: "default";r=${left};t=${resetSeconds}\r\n`
  }
}
