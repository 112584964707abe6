/** What datastores take of the disk, as they said last, by id. It is measured again soon after a start. */
const known = new Map<string, number>()

/** Bytes that a datastore takes of the disk; null before it was asked. */
export function diskBytesOf(id: string): number | null {
  return known.get(id) ?? null
}

export function recordDiskBytes(id: string, bytes: number): void {
  known.set(id, bytes)
}

/** Forgets a datastore that is gone. */
export function forgetDiskBytes(id: string): void {
  known.delete(id)
}
