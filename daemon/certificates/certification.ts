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
import { announceCertified, type RoutedHost } from '#server/certificates/hosts.ts'
import { timestamp } from '#server/clock.ts'
import { useContext, useDatabase } from '#server/context.ts'
import type { Value } from '#server/database/index.ts'
import { reachesServer } from '#server/domains/operations.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { lastReported } from '#server/notifications/events.ts'
import type { ServiceEventDetails } from '#server/service-events/schema.ts'
import { recordServiceEvent } from '#server/service-events/store.ts'
import { tryMove } from '#server/state-machine.ts'
import { schedule } from '#server/options/schedule.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { RateLimit } from '#server/work/rate-limit.ts'
import { checkHost } from '../domains/checks.ts'
import { CheckSchedule } from '../domains/check-schedule.ts'
import type { Task } from '../work/driver.ts'
import { clockGuard } from '../work/clock-guard.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { Authority } from './authority.ts'
import { OutagePause, boundedRetryAfterMs, retryMs } from './backoff.ts'
import { ExpiryWatch } from './expiry.ts'
import { byNeed, deleteExpired, isDue, wantedNames, type Wanted } from './needs.ts'
import { obtainCertificate } from './order.ts'
import { AcmeProblem, AuthorityUnavailable } from './problem.ts'
import { chooseProver } from './provers.ts'
import { adviceIdOf, renewAt, RenewalAdvice } from './renewal.ts'

const log = logger('certificates')

/** Names without a certificate that are checked in parallel, and in one pass: more could not be ordered soon anyway. */
const CHECKS_AT_A_TIME = 8
const CHECKS_PER_PASS = 40
/** A check that found that a host leads here is valid this long, for the order that follows. */
const CHECK_VALID_MS = 60_000
/** Orders in progress at a time, and new orders within a minute. */
const ORDERS_AT_A_TIME = 4
const NEW_ORDERS_PER_MINUTE = 20
/** Length of an authority's reason as it is stored and shown. */
const MAX_ERROR_CHARACTERS = 1_000

/**
 * Obtains and renews a certificate for every routed host that is not local. The state of an order is in its record and at
 * the authority, so the next start continues after a kill at any moment.
 */
export class Certification {
  readonly #world: World
  readonly #authority = new Authority()
  readonly #advice = new RenewalAdvice(this.#authority)
  readonly #schedule = new CheckSchedule(CHECK_VALID_MS)
  readonly #gate = new RateLimit(NEW_ORDERS_PER_MINUTE, 60_000)
  readonly #away = new OutagePause()
  readonly #clock = clockGuard()
  readonly #expiry = new ExpiryWatch()
  readonly #running = new Set<string>()
  readonly #stopListening: () => void
  /** Set while it publishes its own changes, which are not a reason to run again. */
  #isNotifying = false
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    moveAccountKeys()
    removeChallenges()
    this.#stopListening = onChange(({ kind }) => {
      if (!this.#isNotifying && (kind === 'all' || kind === 'domain' || kind === 'service')) this.#wake()
    })
  }

  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'certificates', everyMs: schedule.certificatesEveryMs, run: () => this.#run() }
  }

  /** Stops the work; the next start continues an order in progress. */
  stop(): void {
    this.#stopListening()
  }

  async #run(): Promise<void> {
    const { tls, acme } = useContext().options
    if (tls === 'off' || this.#clock.heldMs() > 0) return
    const wanted = wantedNames()
    const known = certificatesByName()
    const rows = [...wanted.keys()].map((name) => known.get(name) ?? insertCertificate(name, acme.directory))
    deleteExpired([...known.values()].filter(({ id }) => !wanted.has(id) && !this.#running.has(id)))
    this.#expiry.look(rows)
    this.#schedule.keep(new Set(wanted.keys()))
    if (!this.#away.isOver()) return
    await this.#order(rows.filter((row) => this.#isNext(row, wanted)).toSorted(byNeed), wanted)
    await this.#advice.look(rows)
  }

  /** Whether a certificate should be ordered now. */
  #isNext(row: CertificateRow, wanted: ReadonlyMap<string, Wanted>): boolean {
    const isFree = !this.#running.has(row.id) && wanted.get(row.id)!.waitsFor === null
    return isFree && isDue(row, useContext().options.acme.directory)
  }

  /** Checks the hosts that are due and starts as many orders as may be in progress. */
  async #order(due: readonly CertificateRow[], wanted: ReadonlyMap<string, Wanted>): Promise<void> {
    await forEachLimited(this.#toLook(due), CHECKS_AT_A_TIME, (row) => this.#look(row, wanted.get(row.id)!))
    for (const { id } of due) {
      if (!isWildcard(id) && !this.#schedule.isHere(id)) continue
      // An order may have ended during the checks.
      const row = getCertificate(id)
      if (!row || !this.#isNext(row, wanted)) continue
      if (this.#running.size >= ORDERS_AT_A_TIME || !this.#gate.pass()) return
      this.#running.add(row.id)
      void this.#certify(row, wanted.get(row.id)!)
        // A failure that could not be recorded is tried again with the next run.
        .catch((error: unknown) =>
          log.error(`the result of the certificate order for ${row.id} could not be recorded`, {
            error: messageOf(error),
          }),
        )
        .finally(() => {
          this.#running.delete(row.id)
          this.#schedule.forget(row.id)
          this.#wake()
        })
    }
  }

  /**
   * Returns the certificates whose hosts are checked now. Those without a certificate first, because people wait for them
   * or for the reason; a renewal is checked when it can be ordered.
   */
  #toLook(due: readonly CertificateRow[]): CertificateRow[] {
    const unseen = this.#schedule.dueOf(due.filter(({ id }) => !isWildcard(id)))
    const first = unseen.filter(({ version }) => version === null)
    const renewals = unseen.filter(({ version }) => version !== null)
    const room = Math.min(ORDERS_AT_A_TIME - this.#running.size, this.#gate.left)
    return [...first.slice(0, CHECKS_PER_PASS), ...renewals.slice(0, room)]
  }

  /** Checks whether a host leads here: a failed order would use up one of the few attempts that an authority allows. */
  async #look({ id, error }: CertificateRow, { hosts }: Wanted): Promise<void> {
    const checks = await checkHost(id)
    const isHere = reachesServer(checks)
    this.#schedule.done(id, isHere)
    if (isHere) return
    const why =
      checks.find(({ outcome }) => outcome === 'failed')?.message ?? 'the host does not lead to this server'
    moveTo(id, 'pending', { error: why, retry_at: Date.now() + Math.round(this.#schedule.waitMs(id)) })
    if (why !== error) this.#notify(hosts)
  }

  async #certify(row: CertificateRow, { hosts }: Wanted): Promise<void> {
    const { id, failures } = row
    const { directory } = useContext().options.acme
    const isOtherAuthority = row.directory !== directory
    moveTo(id, 'issuing', {
      error: null,
      retry_at: null,
      directory,
      ...(isOtherAuthority ? { order_url: null } : {}),
    })
    this.#notify(hosts)
    try {
      const prover = chooseProver(this.#world, id, failures)
      const hasAdvice = !isOtherAuthority && (await this.#authority.renewalInfo()) !== null
      const replaces = hasAdvice ? adviceIdOf(row) : null
      const issued = await this.#authority.withClient((client, acme) =>
        obtainCertificate(client, acme, id, prover, replaces),
      )
      this.#away.answered()
      await this.#install(id, issued, hosts)
    } catch (error) {
      this.#fail(id, failures, error, hosts)
    }
    this.#notify(hosts)
  }

  /** Stores the issued certificate and has the data plane serve it; open connections keep theirs. */
  async #install(id: string, { chain, key, facts }: KeyedChain, hosts: readonly RoutedHost[]): Promise<void> {
    const version = writeVersion(id, chain, key)
    moveTo(id, 'issuing', {
      version,
      issuer: facts.issuer,
      not_before: facts.notBefore,
      not_after: facts.notAfter,
    })
    await this.#world.dataPlane
      .sync()
      // It gets the route table as soon as it is back.
      .catch((error: unknown) =>
        log.warn('the data plane has not loaded a new certificate yet; it will once it is back', {
          error: messageOf(error),
        }),
      )
    // Reported as issued only now that it is served.
    useDatabase().transaction(() => {
      moveTo(id, 'issued', { renew_at: renewAt(facts), failures: 0, order_url: null, advised_until: null })
      recordOfHosts(hosts, 'certificate.issued', { not_after: timestamp(facts.notAfter) })
    })
    removeOldVersions(id, version)
    log.info(`${id} has a certificate until ${new Date(facts.notAfter).toISOString()}`, {
      issuer: facts.issuer,
    })
  }

  #notify(hosts: readonly RoutedHost[]): void {
    this.#isNotifying = true
    announceCertified(hosts)
    this.#isNotifying = false
  }

  #fail(id: string, failures: number, error: unknown, hosts: readonly RoutedHost[]): void {
    const isAway = error instanceof AuthorityUnavailable
    const problem = error instanceof AcmeProblem ? error : null
    const requestedMs = problem?.retryAfterMs ?? null
    const ownMs = requestedMs === null ? retryMs(failures + 1) : boundedRetryAfterMs(requestedMs)
    const waitMs = isAway ? this.#away.failed(error.retryAfterMs) : ownMs
    // The authority does not say which limit it was: a limit of the account would refuse every other host as well.
    if (problem?.kind === 'rateLimited') this.#away.failed()
    const reason = plainLine(messageOf(error), MAX_ERROR_CHARACTERS)
    useDatabase().transaction(() => {
      // As in notifications, only the first failure in a row.
      if (lastReported(`certificate ${id}`) === null) recordOfHosts(hosts, 'certificate.failed', { reason })
      moveTo(id, 'failed', {
        error: reason,
        retry_at: Date.now() + Math.round(waitMs),
        // An authority that is down says nothing about the host.
        failures: failures + (isAway ? 0 : 1),
      })
    })
    log.warn(`no certificate for ${id}; trying again in ${Math.ceil(waitMs / 1_000)} s`, { error: reason })
  }
}

/** Tells the timelines of the services that have these hosts. */
function recordOfHosts(
  hosts: readonly RoutedHost[],
  type: 'certificate.issued' | 'certificate.failed',
  details: ServiceEventDetails,
): void {
  for (const { serviceId, host } of hosts)
    if (serviceId !== null) recordServiceEvent(serviceId, type, { details: { host, ...details } })
}

function moveTo(id: string, to: CertificateStatus, columns: Record<string, Value>): void {
  tryMove(certificateMachine, id, to, { ...columns, updated_at: Date.now() })
}

function isWildcard(name: string): boolean {
  return name.startsWith('*.')
}
