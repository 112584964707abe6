import { SPACE, latin1 } from '../http1/bytes.ts'
import type { FieldChanges } from '../http1/change-fields.ts'
import { dropLine, type Head } from '../http1/head.ts'
import { networkOf } from '../networks.ts'
import type { Answer } from '../pages/answers.ts'
import { withQuery } from '../sites/rules.ts'
import { affinityLine, takeToken } from './affinity.ts'
import { BODY_TOO_LARGE, BUSY, FORBIDDEN, UNAUTHORIZED, movedAnswer, tooManyAnswer } from './answers.ts'
import { credentialsOf, type BasicAuth } from './basic-auth.ts'
import type { Edge } from './edge.ts'
import type { Guards } from './guards.ts'
import type { PathFacts } from './path-rules.ts'
import type { RateLimit } from './rate-limit.ts'

/** A request at the edge. */
export interface Arrival {
  head: Head
  /** The copied head begins at `at`. */
  output: Buffer
  at: number
  /** The client's. */
  address: string
  secure: boolean
  /** Monotonic milliseconds. */
  now: number
}

/** A password that is being checked, or was. */
interface Check {
  digest: string
  isRight: boolean | null
  /** What the request got from the rate limit: it comes once more when the check is done. */
  rateLines: string
}

const NO_NAMES: readonly Uint8Array[] = []

/** The requests of one connection at the edges of services, one after another: what their answers still need. */
export class Visit {
  readonly #guards: Guards
  address = ''
  /** The instance that the client was led to before. */
  token: string | null = null
  maxBodyBytes = Infinity
  #edge!: Edge
  #secure = false
  #rateLines = ''
  #fields: FieldChanges | null = null
  #check: Check | null = null

  constructor(guards: Guards) {
    this.#guards = guards
  }

  /**
   * Judges a request. Returns the answer that the edge gives itself, or null if the request passes. A promise means that a
   * password is being checked: once it has resolved, the request has to be judged again.
   */
  judge(edge: Edge, arrival: Arrival): Answer | Promise<void> | null {
    this.#begin(edge, arrival)
    const check = this.#check
    this.#check = null
    if (edge.refuses(this.address)) return FORBIDDEN
    const target = edge.paths ? targetOf(arrival) : ''
    const [path, query] = split(target)
    const facts = edge.paths?.at(path) ?? null
    if (facts?.moved) return movedAnswer(facts.moved.status, withQuery(facts.moved.location, query))
    if (edge.isClosedTo(this.address)) return edge.maintenance!.answer
    const limited = edge.rateLimit ? this.#limit(edge.rateLimit, check, arrival.now) : null
    if (limited) return limited
    const refused = edge.basicAuth ? this.#authenticate(edge.basicAuth, facts, check, arrival) : null
    if (refused) return refused
    if (arrival.head.contentLength > edge.maxBodyBytes) return BODY_TOO_LARGE
    this.#fields = facts?.fields ?? null
    if (edge.hasAffinity) this.token = takeToken(arrival.output, arrival.head)
    return null
  }

  /**
   * Returns how the fields of the answer change. `token` stands for the instance that answers; null if it is a file. Null if
   * nothing changes.
   */
  fieldChanges(token: string | null): FieldChanges | null {
    let added = this.#rateLines
    if (token !== null && this.#edge.hasAffinity && token !== this.token)
      added += affinityLine(token, this.#secure)
    if (added === '') return this.#fields
    return { removed: this.#fields?.removed ?? NO_NAMES, added: (this.#fields?.added ?? '') + added }
  }

  #begin(edge: Edge, { address, secure }: Arrival): void {
    this.#edge = edge
    this.address = address
    this.#secure = secure
    this.maxBodyBytes = edge.maxBodyBytes
    this.token = null
    this.#rateLines = ''
    this.#fields = null
  }

  /** Counts a request, unless it comes once more after a check. Returns the answer if it is too many. */
  #limit(limit: RateLimit, check: Check | null, now: number): Answer | null {
    if (check) {
      this.#rateLines = check.rateLines
      return null
    }
    const turn = limit.take(this.#guards.cells, networkOf(this.address), now)
    const lines = this.#edge.rateLines(turn)
    if (!turn.allowed) return tooManyAnswer('requests', turn.waitSeconds, lines)
    this.#rateLines = lines
    return null
  }

  #authenticate(
    auth: BasicAuth,
    facts: PathFacts | null,
    check: Check | null,
    { output, head, now }: Arrival,
  ): Answer | Promise<void> | null {
    const { passwords } = this.#guards
    const isOpen = facts?.open ?? false
    const credentials = credentialsOf(output, head)
    if (!credentials) return isOpen ? null : UNAUTHORIZED
    const digest = passwords.digestOf(auth.version, credentials.text)
    if (passwords.knows(digest) || (check?.digest === digest && check.isRight)) {
      dropLine(output, head, credentials.line)
      return null
    }
    const isWrong = check?.digest === digest && check.isRight === false
    // What the paths that need no password get may be for the application, unless it is the service's own password.
    if (isOpen && (isWrong || !auth.names(credentials.text))) return null
    if (isWrong) return UNAUTHORIZED
    const started = this.#startCheck(auth, digest, credentials.text, now)
    return isOpen && !(started instanceof Promise) ? null : started
  }

  /** Has a password checked that is not known to be right. Of many wrong ones from one address, only some are checked. */
  #startCheck(auth: BasicAuth, digest: string, text: string, now: number): Answer | Promise<void> {
    const { passwords, cells } = this.#guards
    const check: Check = { digest, isRight: null, rateLines: this.#rateLines }
    const { wrongPasswords } = this.#edge
    const client = networkOf(this.address)
    let checking = passwords.underWay(digest)
    if (!checking) {
      if (passwords.full) return BUSY
      const turn = wrongPasswords.take(cells, client, now)
      if (!turn.allowed) return tooManyAnswer('wrong passwords', turn.waitSeconds)
      const { password, hash } = auth.read(text)
      checking = passwords.check(digest, password, hash)
      void checking.then((isRight) => isRight && wrongPasswords.giveBack(cells, client))
    }
    this.#check = check
    return checking.then((isRight) => {
      check.isRight = isRight
    })
  }
}

/** Returns the target of a request: path and query. */
function targetOf({ output, at }: Arrival): string {
  while (output[at] !== SPACE) at++
  const start = ++at
  while (output[at] !== SPACE) at++
  return latin1(output, start, at)
}

function split(target: string): [path: string, query: string] {
  const query = target.indexOf('?')
  return query < 0 ? [target, ''] : [target.slice(0, query), target.slice(query)]
}
