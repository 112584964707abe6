import { bad, type FlagName } from './flags.ts'

/** How much of a file system must stay free for builds to start: a share of it, and at least so many bytes. */
export interface DiskFloor {
  percent: number
  minBytes: number
}

const GIBIBYTE = 1024 ** 3
const UNIT_BYTES: Record<string, number> = { MiB: 1024 ** 2, GiB: GIBIBYTE, TiB: 1024 ** 4 }

/**
 * Parses `5%` or `2GiB`. A share is at least 1 GiB, which one build easily needs; a size is taken as it is, so that a smaller
 * file system can be used too. Throws `invalid_request`.
 */
export function readDiskFloor(name: FlagName, value: string): DiskFloor {
  const [, percent] = /^(\d{1,3}(?:\.\d{1,3})?)%$/.exec(value) ?? []
  if (percent !== undefined && Number(percent) <= 100) return { percent: Number(percent), minBytes: GIBIBYTE }
  const [, count, unit = ''] = /^(\d{1,9})(MiB|GiB|TiB)$/.exec(value) ?? []
  const minBytes = Number(count) * UNIT_BYTES[unit]!
  if (!Number.isSafeInteger(minBytes))
    throw bad(name, 'a share such as 5%, or a size such as 500MiB, 2GiB or 1TiB', value)
  return { percent: 0, minBytes }
}
