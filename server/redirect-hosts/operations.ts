import { announce, type Change } from '../changes.ts'
import { timestamp } from '../clock.ts'
import { useDatabase } from '../context.ts'
import { assertRedirectHostFree } from '../domains/claims.ts'
import { readName } from '../domains/names.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import type { RedirectHost, RedirectHostInput, RedirectHostPatch } from './schema.ts'
import {
  deleteRedirectHostRow,
  getRedirectHost,
  getRedirectHostByName,
  listRedirectHosts,
  writeRedirectHost,
  type RedirectHostRow,
} from './store.ts'

/** Each one is looked up and gets its own certificate, and the data plane's table has to hold them all. */
const MAX_REDIRECT_HOSTS = 500

/** The redirect host with this id or host. Throws `not_found`. */
export function findRedirectHost(idOrHost: string): RedirectHostRow {
  const read = readName(idOrHost)
  const found =
    getRedirectHost(idOrHost) ?? getRedirectHostByName('name' in read ? read.name : idOrHost.toLowerCase())
  if (!found) throw new AppError('not_found', `there is no redirect host ${idOrHost}`)
  return found
}

/** Creates a redirect host. Throws `invalid_request` for a circle, `conflict` for a host that something else has. */
export function createRedirectHost({ host, to, keep_path, status }: RedirectHostInput): RedirectHostRow {
  const now = Date.now()
  const row: RedirectHostRow = {
    ...{ id: newId('redirectHost'), host, target: new URL(to).href, keep_path: keep_path ? 1 : 0, status },
    ...{ created_at: now, updated_at: now },
  }
  useDatabase().transaction(() => {
    assertRedirect(row)
    if (listRedirectHosts().length >= MAX_REDIRECT_HOSTS)
      throw new AppError(
        'conflict',
        `there are ${MAX_REDIRECT_HOSTS} redirect hosts: remove one that is not needed`,
      )
    assertRedirectHostFree(host, row.id)
    writeRedirectHost(row)
  })
  announceRedirectHost(row.id, 'created')
  return row
}

/** Changes a redirect host. Throws what `createRedirectHost` throws. */
export function patchRedirectHost(row: RedirectHostRow, patch: RedirectHostPatch): RedirectHostRow {
  const { host = row.host, to = row.target, keep_path = row.keep_path === 1, status = row.status } = patch
  const changed: RedirectHostRow = {
    ...{ ...row, host, target: new URL(to).href, keep_path: keep_path ? 1 : 0, status },
    updated_at: Date.now(),
  }
  useDatabase().transaction(() => {
    assertRedirect(changed)
    if (host !== row.host) assertRedirectHostFree(host, row.id)
    writeRedirectHost(changed)
  })
  announceRedirectHost(row.id, 'updated')
  return changed
}

export function deleteRedirectHost({ id }: RedirectHostRow): void {
  deleteRedirectHostRow(id)
  announceRedirectHost(id, 'deleted')
}

/** A redirect host as the API returns it. */
export function viewRedirectHost(row: RedirectHostRow): RedirectHost {
  return {
    ...{ id: row.id, host: row.host, to: row.target, keep_path: row.keep_path === 1, status: row.status },
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

/** Refuses a redirect after which no path can follow, or that leads back to itself. Throws `invalid_request`. */
function assertRedirect({ id, host, target, keep_path }: RedirectHostRow): void {
  // Not by the parts of the URL, which do not tell an empty query from none.
  if (keep_path === 1 && /[?#]/.test(target))
    throw new AppError(
      'invalid_request',
      'to: has a query or a fragment, after which no path can follow: leave it out, or set keep_path to false',
    )
  const others = new Map(
    listRedirectHosts()
      .filter((other) => other.id !== id)
      .map((other) => [other.host, other.target]),
  )
  const passed = [host]
  for (let next = hostOf(target); ;) {
    passed.push(next)
    if (next === host)
      throw new AppError('invalid_request', `to: leads back to ${host} (${passed.join(' -> ')})`)
    const further = others.get(next)
    if (further === undefined) return
    // What exists has no circle, so this ends.
    next = hostOf(further)
  }
}

/** The host of a URL as hosts are stored. */
function hostOf(url: string): string {
  return new URL(url).hostname.replace(/\.$/, '')
}

/** The list of hosts that are served is part of what is known about domains. */
function announceRedirectHost(id: string, action: Change['action']): void {
  announce({ kind: 'domain', id, service_id: null, action })
}
