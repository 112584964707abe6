import { onChange } from '#server/changes.ts'
import { isLocalName } from '#server/domains/names.ts'
import { keepChecks, reachesServer } from '#server/domains/operations.ts'
import { getDomain, listDomains, type DomainRow } from '#server/domains/store.ts'
import { schedule } from '#server/options/schedule.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import type { World } from '../world.ts'
import { checkDomain } from './checks.ts'
import { CheckSchedule } from './check-schedule.ts'

/** A domain that leads to the server is checked this often. */
const ACTIVE_MS = 6 * 3_600_000
/** Domains checked in parallel, so that a slow resolver does not delay the others. */
const PARALLEL = 4

/** Checks whether the names under each domain lead to this server, and has those that do served. */
export class Verification {
  readonly #world: World
  readonly #schedule = new CheckSchedule(ACTIVE_MS)
  readonly #stopListening: () => void
  #wake: () => void = () => {}

  constructor(world: World) {
    this.#world = world
    this.#stopListening = onChange(({ kind, action }) => {
      if (kind === 'domain' && action !== 'updated') this.#wake()
    })
  }

  task(wake: () => void): Task {
    this.#wake = wake
    return { name: 'domains', everyMs: schedule.domainsEveryMs, run: () => this.#run() }
  }

  /** Checks a domain now, unless it is local, and returns its record afterwards. */
  async verify(domain: DomainRow): Promise<DomainRow> {
    if (!isLocalName(domain.name)) await this.#look(domain)
    return getDomain(domain.id) ?? domain
  }

  stop(): void {
    this.#stopListening()
  }

  async #run(): Promise<void> {
    const domains = listDomains().filter(({ name }) => !isLocalName(name))
    this.#schedule.keep(new Set(domains.map(({ id }) => id)))
    const due = domains.filter(({ id }) => this.#schedule.isDue(id))
    await forEachLimited(due, PARALLEL, (domain) => this.#look(domain))
  }

  async #look(domain: DomainRow): Promise<void> {
    const checks = await checkDomain(domain.name)
    // It may have been removed meanwhile.
    const now = getDomain(domain.id)
    if (!now) return
    this.#schedule.done(domain.id, reachesServer(checks))
    if (keepChecks(now, checks)) await this.#world.dataPlane.sync()
  }
}
