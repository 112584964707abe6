import { randomBytes } from 'node:crypto'

/** How much is taken from the system at once: a call costs about as much as generating this many bytes. */
const POOL_BYTES = 4 * 1024

let pool = Buffer.alloc(0)

/** Random bytes from the system's source. Each byte is handed out once and is not kept. */
export function takeRandom(count: number): Buffer {
  if (count > POOL_BYTES) return randomBytes(count)
  if (count > pool.length) pool = randomBytes(POOL_BYTES)
  const taken = Buffer.from(pool.subarray(0, count))
  pool.fill(0, 0, count)
  pool = pool.subarray(count)
  return taken
}
