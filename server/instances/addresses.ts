import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'

/** A part of an environment's subnet, as offsets into it, and how long a used address of it rests. */
interface Part {
  name: 'instance' | 'job'
  first: number
  last: number
  restMs: number
}

/**
 * A /20 has 4096 addresses. The first 16 are left to the gateway and the engine. An address that stood in a route table
 * rests for an hour, so that a stale table never reaches another service's container.
 */
const INSTANCES: Part = { name: 'instance', first: 16, last: 3_071, restMs: 60 * 60_000 }

/** The last quarter but the broadcast address. These stand in no route table; nothing but jobs ever gets them. */
const JOBS: Part = { name: 'job', first: 3_072, last: 4_094, restMs: 0 }

/**
 * Allots an address of an environment's subnet to a holder and records it: the lowest never used, else the one that
 * has been free the longest, at least an hour; none that strangers have `taken`. Throws `conflict` when none is left.
 */
export function allotAddress(
  environmentId: string,
  subnet: string,
  holder: string,
  taken: readonly string[] = [],
): string {
  return allot(INSTANCES, environmentId, subnet, holder, taken)
}

/** Allots an address of the jobs' own part of the subnet, the longest free first. Throws `conflict` when none is left. */
export function allotJobAddress(
  environmentId: string,
  subnet: string,
  holder: string,
  taken: readonly string[] = [],
): string {
  return allot(JOBS, environmentId, subnet, holder, taken)
}

/** Gives an address back; it rests before it is used again. */
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

/** Moves what has an address in an environment's subnet to the same place of the subnet that its network has now. */
export function moveAddresses(environmentId: string, from: string, to: string): void {
  const database = useDatabase()
  const base = numberOf(from)
  database.transaction(() => {
    const rows = database.all<AddressRow>('SELECT * FROM addresses WHERE environment_id = ?', environmentId)
    // Before any is written, as the two subnets may have addresses in common.
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

/** The containers that hold an address of the jobs' part. */
export function jobAddressHolders(): string[] {
  const rows = useDatabase().all<{ holder: string }>(
    "SELECT holder FROM addresses WHERE part = 'job' AND holder IS NOT NULL ORDER BY holder",
  )
  return rows.map(({ holder }) => holder)
}

function allot(
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
      // What is passed over rests.
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
    Date.now() - part.restMs,
    taken.length + 1,
  )
  return rows.find(({ address }) => !taken.includes(address))?.address ?? null
}

/** The IPv4 address at an offset into a subnet in CIDR form. */
export function addressAt(subnet: string, offset: number): string {
  const address = numberOf(subnet) + offset
  return [24, 16, 8, 0].map((shift) => Math.floor(address / 2 ** shift) % 256).join('.')
}

/** An IPv4 address, or a subnet's first, as a number. */
export function numberOf(address: string): number {
  return address
    .split('/')[0]!
    .split('.')
    .reduce((value, octet) => value * 256 + Number(octet), 0)
}
