import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'

/** A part of an environment's subnet, as offsets into it, and how long a released address is not reused. */
interface Part {
  name: 'instance' | 'job'
  first: number
  last: number
  reuseAfterMs: number
}

/** How many addresses the network of an environment has, a /20. */
export const SUBNET_ADDRESSES = 4_096

/**
 * The first 16 are left to the gateway and the engine. A released address may still be in a route
 * table, so it is not reused for an hour: an outdated table must never reach another service's container.
 */
const INSTANCES: Part = { name: 'instance', first: 16, last: 3_071, reuseAfterMs: 60 * 60_000 }

/** The last quarter without the broadcast address. These are never in a route table, and only jobs get them. */
const JOBS: Part = { name: 'job', first: 3_072, last: 4_094, reuseAfterMs: 0 }

/**
 * Assigns an address of an environment's subnet to a holder and records it: the lowest one never used, or else the one that
 * was released first, at least an hour ago. Avoids the addresses in `taken`, which something else uses. Throws `conflict`
 * when none is left.
 */
export function allotAddress(
  environmentId: string,
  subnet: string,
  holder: string,
  taken: readonly string[] = [],
): string {
  return assign(INSTANCES, environmentId, subnet, holder, taken)
}

/**
 * Records that a holder has this address of the part for instances, as what already runs does. Returns false if another one has
 * it, or it is of no such part.
 */
export function holdAddress(environmentId: string, subnet: string, address: string, holder: string): boolean {
  const offset = numberOf(address) - numberOf(subnet)
  if (offset < INSTANCES.first || offset > INSTANCES.last) return false
  const database = useDatabase()
  return database.transaction(() => {
    const sql = 'SELECT holder FROM addresses WHERE environment_id = ? AND address = ?'
    const known = database.get<{ holder: string | null }>(sql, environmentId, address)
    if (known && known.holder !== null) return known.holder === holder
    // Those before it get their rows too, since the count of the rows is the next offset.
    for (;;) {
      const next = neverUsed(INSTANCES, environmentId, subnet)
      if (next === null || numberOf(next) > numberOf(address)) break
      database.run(
        'INSERT INTO addresses (environment_id, address, part, released_at) VALUES (?, ?, ?, ?)',
        environmentId,
        next,
        INSTANCES.name,
        Date.now(),
      )
    }
    const set = 'UPDATE addresses SET holder = ?, released_at = NULL WHERE environment_id = ? AND address = ?'
    return database.run(set, holder, environmentId, address) > 0
  })
}

/**
 * Assigns an address of the part of the subnet that is for jobs, the one released first. Throws `conflict` when none is
 * left.
 */
export function allotJobAddress(
  environmentId: string,
  subnet: string,
  holder: string,
  taken: readonly string[] = [],
): string {
  return assign(JOBS, environmentId, subnet, holder, taken)
}

/** Releases an address. It is not reused for a while. */
export function releaseAddress(holder: string): void {
  useDatabase().run(
    'UPDATE addresses SET holder = NULL, released_at = ? WHERE holder = ?',
    Date.now(),
    holder,
  )
}

interface AddressRow {
  environment_id: string
  address: string
  part: string
  holder: string | null
  released_at: number | null
}

/** Moves everything with an address in an environment's subnet to the same offset in the subnet that its network has now. */
export function moveAddresses(environmentId: string, from: string, to: string): void {
  const database = useDatabase()
  const base = numberOf(from)
  database.transaction(() => {
    const rows = database.all<AddressRow>('SELECT * FROM addresses WHERE environment_id = ?', environmentId)
    // All old rows go before any new one is written, because the two subnets may have addresses in common.
    database.run('DELETE FROM addresses WHERE environment_id = ?', environmentId)
    for (const { address, part, holder, released_at } of rows) {
      const moved = addressAt(to, numberOf(address) - base)
      database.run(
        'INSERT INTO addresses (environment_id, address, part, holder, released_at) VALUES (?, ?, ?, ?, ?)',
        environmentId,
        moved,
        part,
        holder,
        released_at,
      )
      if (holder === null) continue
      database.run(
        'UPDATE instances SET address = ?1, upstream_host = iif(upstream_host = ?2, ?1, upstream_host) WHERE id = ?3',
        moved,
        address,
        holder,
      )
      database.run('UPDATE datastores SET address = ? WHERE id = ? AND address IS NOT NULL', moved, holder)
    }
  })
}

/** The containers that hold an address of the part for jobs. */
export function jobAddressHolders(): string[] {
  const rows = useDatabase().all<{ holder: string }>(
    "SELECT holder FROM addresses WHERE part = 'job' AND holder IS NOT NULL ORDER BY holder",
  )
  return rows.map(({ holder }) => holder)
}

function assign(
  part: Part,
  environmentId: string,
  subnet: string,
  holder: string,
  taken: readonly string[],
): string {
  const database = useDatabase()
  return database.transaction(() => {
    const held = database.get<{ address: string }>('SELECT address FROM addresses WHERE holder = ?', holder)
    if (held && !taken.includes(held.address)) return held.address
    for (;;) {
      // A skipped address counts as just released.
      releaseAddress(holder)
      const address = neverUsed(part, environmentId, subnet) ?? longestFree(part, environmentId, taken)
      if (address === null) throw new AppError('conflict', `the network ${subnet} has no free address left`)
      database.run(
        `INSERT INTO addresses (environment_id, address, part, holder) VALUES (?1, ?2, ?3, ?4)
         ON CONFLICT (environment_id, address) DO UPDATE SET holder = ?4, released_at = NULL`,
        environmentId,
        address,
        part.name,
        holder,
      )
      if (!taken.includes(address)) return address
    }
  })
}

function neverUsed(part: Part, environmentId: string, subnet: string): string | null {
  const count = useDatabase().get<{ used: number }>(
    'SELECT count(*) AS used FROM addresses WHERE environment_id = ? AND part = ?',
    environmentId,
    part.name,
  )!.used
  // Addresses are handed out in order and their rows never removed, so their count is the next offset.
  const offset = part.first + count
  return offset > part.last ? null : addressAt(subnet, offset)
}

function longestFree(part: Part, environmentId: string, taken: readonly string[]): string | null {
  const rows = useDatabase().all<{ address: string }>(
    `SELECT address FROM addresses WHERE environment_id = ? AND part = ? AND holder IS NULL AND released_at <= ?
     ORDER BY released_at LIMIT ?`,
    environmentId,
    part.name,
    Date.now() - part.reuseAfterMs,
    taken.length + 1,
  )
  return rows.find(({ address }) => !taken.includes(address))?.address ?? null
}

/** The IPv4 address at an offset into a subnet in CIDR form. */
export function addressAt(subnet: string, offset: number): string {
  const address = numberOf(subnet) + offset
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** An IPv4 address, or the first one of a subnet, as a number. */
export function numberOf(address: string): number {
  return address
    .split('/')[0]!
    .split('.')
    .reduce((value, octet) => value * 256 + Number(octet), 0)
}
