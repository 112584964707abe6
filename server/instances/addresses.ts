import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'

/**
 * An address that stood in a route table is given to no other container for this long, so that a stale table never
 * reaches another service's container.
 */
const REST_MS = 60 * 60_000

/** A /20: 4096 addresses. The first 16 are left to the gateway and the engine, the last quarter to jobs. */
const FIRST_HOST = 16
const LAST_INSTANCE_HOST = 3_071

/**
 * Allots an address of an environment's subnet to a holder and records it: the lowest never used, else the one that
 * has been free the longest, at least an hour. Throws `conflict` when none is left.
 */
export function allotAddress(environmentId: string, subnet: string, holder: string): string {
  const database = useDatabase()
  return database.transaction(() => {
    const held = database.get<{ address: string }>('SELECT address FROM addresses WHERE holder = ?', holder)
    if (held) return held.address
    const address = neverUsed(environmentId, subnet) ?? longestFree(environmentId)
    if (address === null) throw new AppError('conflict', `the network ${subnet} has no free address left`)
    database.run(
      `INSERT INTO addresses (environment_id, address, holder) VALUES (?1, ?2, ?3)
       ON CONFLICT (environment_id, address) DO UPDATE SET holder = ?3, released_at = NULL`,
      environmentId,
      address,
      holder,
    )
    return address
  })
}

/** Gives an address back; it rests before it is used again. */
export function releaseAddress(holder: string): void {
  useDatabase().run(
    'UPDATE addresses SET holder = NULL, released_at = ? WHERE holder = ?',
    Date.now(),
    holder,
  )
}

function neverUsed(environmentId: string, subnet: string): string | null {
  const count = useDatabase().get<{ used: number }>(
    'SELECT count(*) AS used FROM addresses WHERE environment_id = ?',
    environmentId,
  )!.used
  // Addresses are handed out in order and their rows never removed, so their count is the next offset.
  const offset = FIRST_HOST + count
  return offset > LAST_INSTANCE_HOST ? null : addressAt(subnet, offset)
}

function longestFree(environmentId: string): string | null {
  const row = useDatabase().get<{ address: string }>(
    `SELECT address FROM addresses WHERE environment_id = ? AND holder IS NULL AND released_at < ?
     ORDER BY released_at LIMIT 1`,
    environmentId,
    Date.now() - REST_MS,
  )
  return row?.address ?? null
}

/** The IPv4 address at an offset into a subnet in CIDR form. */
export function addressAt(subnet: string, offset: number): string {
  const base = subnet
    .split('/')[0]!
    .split('.')
    .reduce((value, octet) => value * 256 + Number(octet), 0)
  const address = base + offset
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}
