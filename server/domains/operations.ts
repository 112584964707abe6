import { routedHosts } from '../certificates/hosts.ts'
import { announce } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { logger } from '../log.ts'
import { recordServiceEvent } from '../service-events/store.ts'
import { tryMove } from '../state-machine.ts'
import { assertDomainHostsFree } from './claims.ts'
import { isLocalName, readName } from './names.ts'
import type { DomainCheck, DomainInput, DomainPatch } from './schema.ts'
import { domainMachine } from './states.ts'
import {
  deleteDomainRow,
  getDomain,
  getDomainByName,
  insertDomain,
  isServed,
  listDomains,
  setChecks,
  setDefault,
  setSource,
  setVerified,
  type DomainRow,
} from './store.ts'

const log = logger('domains')

/** Every service has a host under each domain, and the data plane's table has to hold them all. */
const MAX_DOMAINS = 20

/** At start, creates the domain for the base domain of the options, and removes that of a previous base domain. */
export function ensureBaseDomain(): void {
  const { baseDomain } = useContext().options
  useDatabase().transaction(() => {
    const domains = listDomains()
    const former = domains.find(({ source, name }) => source === 'config' && name !== baseDomain)
    if (former) deleteDomainRow(former.id)
    const known = getDomainByName(baseDomain)
    if (known) setSource(known.id, 'config')
    const { id } = known ?? insertDomain(baseDomain, 'config')
    if (!listDomains().some(({ is_default }) => is_default === 1)) setDefault(id)
  })
}

/** The domain with this id or name. Throws `not_found`. */
export function findDomain(idOrName: string): DomainRow {
  const read = readName(idOrName)
  const found = getDomain(idOrName) ?? getDomainByName('name' in read ? read.name : idOrName.toLowerCase())
  if (!found) throw new AppError('not_found', `there is no domain ${idOrName}`)
  return found
}

/** Connects a domain; one that is not local waits for its DNS records. Throws `conflict` if a host under it is taken. */
export function createDomain({ name }: DomainInput): DomainRow {
  const created = useDatabase().transaction(() => {
    assertDomainHostsFree(name)
    if (listDomains().length >= MAX_DOMAINS)
      throw new AppError('conflict', `there are ${MAX_DOMAINS} domains: remove one that is not needed`)
    return insertDomain(name, 'api')
  })
  announceDomain(created.id, 'created')
  if (isServed(created)) announceHosts()
  return created
}

/** Makes a domain the default, under which services are shown and linked. Throws `conflict` for one that is not served. */
export function patchDomain(domain: DomainRow, { is_default }: DomainPatch): DomainRow {
  if (is_default === undefined || is_default === (domain.is_default === 1)) return domain
  if (!is_default)
    throw new AppError(
      'invalid_request',
      `is_default: ${domain.name} is the default; make another domain the default instead`,
    )
  useDatabase().transaction(() => {
    const now = getDomain(domain.id)
    if (!now || !isServed(now) || now.status === 'pending')
      throw new AppError(
        'conflict',
        `domain ${domain.name} is not verified: its names do not reach the server yet`,
      )
    setDefault(domain.id)
  })
  announceDomain(domain.id, 'updated')
  announceHosts()
  return getDomain(domain.id)!
}

/** Disconnects a domain. If it was the default, the base domain becomes it. Throws `conflict` for the base domain. */
export function deleteDomain(domain: DomainRow): void {
  if (domain.source === 'config')
    throw new AppError(
      'conflict',
      `${domain.name} is the base domain, which is set when the server starts (--base-domain)`,
    )
  useDatabase().transaction(() => {
    const isDefault = getDomain(domain.id)?.is_default === 1
    deleteDomainRow(domain.id)
    const base = listDomains().find(({ source }) => source === 'config')
    if (isDefault && base) setDefault(base.id)
  })
  announceDomain(domain.id, 'deleted')
  if (isServed(domain)) announceHosts()
}

/** Whether checks show that names under a domain reach this server. If a host cannot connect to itself, DNS is enough. */
export function reachesServer(checks: readonly DomainCheck[]): boolean {
  const outcome = (kind: DomainCheck['kind']) => checks.find((check) => check.kind === kind)?.outcome
  return outcome('http') === 'passed' || (outcome('dns') === 'passed' && outcome('http') === 'skipped')
}

/**
 * Stores the results of a domain's checks and changes its status accordingly. A domain that becomes active is made the
 * default if the default was a local name. Returns whether what is served or shown has changed.
 */
export function keepChecks(domain: DomainRow, checks: readonly DomainCheck[]): boolean {
  const reaches = reachesServer(checks)
  const moved = useDatabase().transaction(() => {
    setChecks(domain.id, JSON.stringify(checks))
    const moved = tryMove(domainMachine, domain.id, reaches ? 'active' : 'failed')
    if (!moved || !reaches) return moved
    if (setVerified(domain.id)) recordVerified(domain.name)
    const shown = listDomains().find(({ is_default }) => is_default === 1)
    if (shown && isLocalName(shown.name)) setDefault(domain.id)
    return true
  })
  announceDomain(domain.id, 'updated')
  if (!moved) return false
  if (reaches) log.info(`${domain.name} is active: its names reach this server`)
  else log.warn(`${domain.name} no longer reaches this server; it is still served`, { checks })
  announceHosts()
  return true
}

/** Tells the timelines of the services that are served under a domain from now on. */
function recordVerified(name: string): void {
  for (const { host, serviceId, domain } of routedHosts())
    if (domain === name && serviceId !== null)
      recordServiceEvent(serviceId, 'domain.verified', { details: { domain, host } })
}

function announceDomain(id: string, action: 'created' | 'updated' | 'deleted'): void {
  announce({ kind: 'domain', id, service_id: null, action })
}

/** Reports that the hosts of services and environments have changed: there may be too many to report each. */
function announceHosts(): void {
  announce({ kind: 'all', id: '*', service_id: null, action: 'resync' })
}
