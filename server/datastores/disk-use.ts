/** The disk space that each datastore last reported, by id. Only in memory: it is measured again soon after a start. */
const known = new Map<string, number>()

/** Bytes of disk space that a datastore takes; null before the first measurement. */
export function diskBytesOf(id: string): number | null {
  return known.get(id) ?? null
}

export function recordDiskBytes(id: string, bytes: number): void {
  known.set(id, bytes)
}

/** Forgets a datastore that was removed. */
export function forgetDiskBytes(id: string): void {
  known.delete(id)
}
