import { onChange } from '#server/changes.ts'
import {
  moveAccountKeys,
  removeChallenges,
  removeOldVersions,
  writeVersion,
} from '#server/certificates/files.ts'
import {
  certificatesByName,
  getCertificate,
  insertCertificate,
  type CertificateRow,
} from '#server/certificates/store.ts'
import { certificateMachine, type CertificateStatus } from '#server/certificates/states.ts'
import type { KeyedChain } from '#server/certificates/pem.ts'
import { tellCertified, type RoutedHost } from '#server/certificates/hosts.ts'
import { useContext } from '#server/context.ts'
import type { Value } from '#server/database/index.ts'
import { reachesServer } from '#server/domains/operations.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { tryMove } from '#server/state-machine.ts'
import { schedule } from '#server/options/schedule.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { RateLimit } from '#server/work/rate-limit.ts'
import { checkHost } from '../domains/checks.ts'
import { Looks } from '../domains/looks.ts'
import type { Task } from '../work/driver.ts'
import { clockGuard } from '../work/clock-guard.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { Authority } from './authority.ts'
import { AwayTimes, heededMs, retryMs } from './backoff.ts'
import { ExpiryWatch } from './expiry.ts'
import { byNeed, forgetEnded, isDue, wantedNames, type Wanted } from './needs.ts'
import { obtainCertificate } from './order.ts'
import { AcmeProblem, AuthorityAway } from './problem.ts'
import { chooseProver } from './provers.ts'
import { calledByAuthority, renewAt, RenewalAdvice } from './renewal.ts'

const log = logger('certificates')

/** Names without a certificate that are looked up at a time, and in one pass: more could not be ordered soon. */
const LOOKS_AT_A_TIME = 8
const LOOKS_A_PASS = 40
/** A look that found a host here holds for the order that follows. */
const LOOK_HOLDS_MS = 60_000
/** What an authority is asked for at a time, and anew within a minute. */
const ORDERS_AT_A_TIME = 4
const NEW_ORDERS_A_MINUTE = 20
/** What people read of an authority's reason. */
const MAX_ERROR_CHARACTERS = 1_000

/**
 * Has every routed host that is not local certified and keeps it so. What an order needs is in its record and with the
 * authority, so that a kill at any moment is taken up by the next start.
 */
export class Certification {
  readonly #world: World
  readonly #authority = new Authority()
  readonly #advice = new RenewalAdvice(this.#authority)
  readonly #looks = new Looks(LOOK_HOLDS_MS)
  readonly #gate = new RateLimit(NEW_ORDERS_A_MINUTE, 60_000)
  readonly #away = new AwayTimes()
  readonly #clock = clockGuard()
  readonly #expiry = new ExpiryWatch()
  readonly #running = new Set<string>()
  readonly #stopListening: () => void
  /** What it tells itself is no reason to look again. */
  #isTelling = false
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    moveAccountKeys()
    removeChallenges()
    this.#stopListening = onChange(({ kind }) => {
      if (!this.#isTelling && (kind === 'all' || kind === 'domain' || kind === 'service')) this.#wake()
    })
  }

  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'certificates', everyMs: schedule.certificatesEveryMs, run: () => this.#run() }
  }

  /** Ends the work; an order under way is taken up by the next start. */
  stop(): void {
    this.#stopListening()
  }

  async #run(): Promise<void> {
    const { tls, acme } = useContext().options
    if (tls === 'off' || this.#clock.heldMs() > 0) return
    const wanted = wantedNames()
    const known = certificatesByName()
    const rows = [...wanted.keys()].map((name) => known.get(name) ?? insertCertificate(name, acme.directory))
    forgetEnded([...known.values()].filter(({ id }) => !wanted.has(id) && !this.#running.has(id)))
    this.#expiry.look(rows)
    this.#looks.keep(new Set(wanted.keys()))
    if (!this.#away.isOver()) return
    await this.#order(rows.filter((row) => this.#isNext(row, wanted)).toSorted(byNeed), wanted)
    await this.#advice.look(rows)
  }

  /** Whether a certificate is to be ordered now. */
  #isNext(row: CertificateRow, wanted: ReadonlyMap<string, Wanted>): boolean {
    const isFree = !this.#running.has(row.id) && wanted.get(row.id)!.waitsFor === null
    return isFree && isDue(row, useContext().options.acme.directory)
  }

  /** Looks up what is due and begins orders for as many as may be under way. */
  async #order(due: readonly CertificateRow[], wanted: ReadonlyMap<string, Wanted>): Promise<void> {
    await forEachLimited(this.#toLook(due), LOOKS_AT_A_TIME, (row) => this.#look(row, wanted.get(row.id)!))
    for (const { id } of due) {
      if (!isWildcard(id) && !this.#looks.isHere(id)) continue
      // Looking takes its time, in which an order may have ended.
      const row = getCertificate(id)
      if (!row || !this.#isNext(row, wanted)) continue
      if (this.#running.size >= ORDERS_AT_A_TIME || !this.#gate.pass()) return
      this.#running.add(row.id)
      void this.#certify(row, wanted.get(row.id)!)
        // What cannot even be written down is tried again with the next look.
        .catch((error: unknown) => log.error(`${row.id}: its certificate`, { error: messageOf(error) }))
        .finally(() => {
          this.#running.delete(row.id)
          this.#looks.forget(row.id)
          this.#wake()
        })
    }
  }

  /**
   * Whose hosts are looked up now. People wait for those that have no certificate, also to be told why; one that is to be
   * renewed is looked up when it can be ordered.
   */
  #toLook(due: readonly CertificateRow[]): CertificateRow[] {
    const unseen = this.#looks.dueOf(due.filter(({ id }) => !isWildcard(id)))
    const first = unseen.filter(({ version }) => version === null)
    const renewals = unseen.filter(({ version }) => version !== null)
    const room = Math.min(ORDERS_AT_A_TIME - this.#running.size, this.#gate.left)
    return [...first.slice(0, LOOKS_A_PASS), ...renewals.slice(0, room)]
  }

  /** Finds out whether a host leads here: asking an authority to look in vain costs one of the few attempts. */
  async #look({ id, error }: CertificateRow, { hosts }: Wanted): Promise<void> {
    const checks = await checkHost(id)
    const isHere = reachesServer(checks)
    this.#looks.done(id, isHere)
    if (isHere) return
    const why =
      checks.find(({ outcome }) => outcome === 'failed')?.message ?? 'it does not lead to this server'
    moved(id, 'pending', { error: why, retry_at: Date.now() + Math.round(this.#looks.waitMs(id)) })
    if (why !== error) this.#tell(hosts)
  }

  async #certify(row: CertificateRow, { hosts }: Wanted): Promise<void> {
    const { id, failures } = row
    const { directory } = useContext().options.acme
    const isElsewhere = row.directory !== directory
    moved(id, 'issuing', {
      error: null,
      retry_at: null,
      directory,
      ...(isElsewhere ? { order_url: null } : {}),
    })
    this.#tell(hosts)
    try {
      const prover = chooseProver(this.#world, id, failures)
      const isNamed = !isElsewhere && (await this.#authority.renewalInfo()) !== null
      const replaces = isNamed ? calledByAuthority(row) : null
      const issued = await this.#authority.withClient((client, acme) =>
        obtainCertificate(client, acme, id, prover, replaces),
      )
      this.#away.answered()
      await this.#install(id, issued)
    } catch (error) {
      this.#fail(id, failures, error)
    }
    this.#tell(hosts)
  }

  /** Writes what was issued and has the data plane show it; connections under way keep what they have. */
  async #install(id: string, { chain, key, facts }: KeyedChain): Promise<void> {
    const version = writeVersion(id, chain, key)
    moved(id, 'issuing', {
      version,
      issuer: facts.issuer,
      not_before: facts.notBefore,
      not_after: facts.notAfter,
    })
    await this.#world.dataPlane
      .sync()
      // It gets the table as soon as it is back.
      .catch((error: unknown) =>
        log.warn('the data plane has not taken a certificate yet', { error: messageOf(error) }),
      )
    // Told only now, when it is shown.
    moved(id, 'issued', { renew_at: renewAt(facts), failures: 0, order_url: null, advised_until: null })
    removeOldVersions(id, version)
    log.info(`${id} is certified until ${new Date(facts.notAfter).toISOString()}`, { issuer: facts.issuer })
  }

  #tell(hosts: readonly RoutedHost[]): void {
    this.#isTelling = true
    tellCertified(hosts)
    this.#isTelling = false
  }

  #fail(id: string, failures: number, error: unknown): void {
    const isAway = error instanceof AuthorityAway
    const problem = error instanceof AcmeProblem ? error : null
    const saidMs = problem?.retryAfterMs ?? null
    const ownMs = saidMs === null ? retryMs(failures + 1) : heededMs(saidMs)
    const waitMs = isAway ? this.#away.failed(error.retryAfterMs) : ownMs
    // Which limit it was is not said: the account's would refuse every other host as well.
    if (problem?.kind === 'rateLimited') this.#away.failed()
    const reason = plainLine(messageOf(error), MAX_ERROR_CHARACTERS)
    moved(id, 'failed', {
      error: reason,
      retry_at: Date.now() + Math.round(waitMs),
      // An authority that is away says nothing of the host.
      failures: failures + (isAway ? 0 : 1),
    })
    log.warn(`${id} could not be certified; tried again in ${Math.ceil(waitMs / 1_000)} s`, { error: reason })
  }
}

function moved(id: string, to: CertificateStatus, columns: Record<string, Value>): void {
  tryMove(certificateMachine, id, to, { ...columns, updated_at: Date.now() })
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.')
}
