import type { DiskKind } from '#server/disk-use/kinds.ts'

interface Share {
  bytes: number
  items: number
}

/** What takes room, by kind and by what it belongs to. */
export class Tally {
  readonly #kinds = new Map<DiskKind, Map<string, Share>>()

  /** Counts something that belongs to `id`, for example a service. */
  add(kind: DiskKind, id: string, bytes: number, items = 1): void {
    const shares = this.#kinds.get(kind) ?? new Map<string, Share>()
    this.#kinds.set(kind, shares)
    const share = shares.get(id) ?? { bytes: 0, items: 0 }
    shares.set(id, share)
    share.bytes += bytes
    share.items += items
  }

  /** The sums of these kinds. */
  sums<K extends DiskKind>(kinds: readonly K[]): { kind: K; bytes: number; items: number }[] {
    return kinds.map((kind) => {
      const shares = [...(this.#kinds.get(kind)?.values() ?? [])]
      const sum = (read: (share: Share) => number) => shares.reduce((total, share) => total + read(share), 0)
      return { kind, bytes: sum(({ bytes }) => bytes), items: sum(({ items }) => items) }
    })
  }

  /** What takes most, largest first. */
  largest(count: number): { kind: DiskKind; id: string; bytes: number }[] {
    return [...this.#kinds]
      .flatMap(([kind, shares]) => [...shares].map(([id, { bytes }]) => ({ kind, id, bytes })))
      .filter(({ bytes }) => bytes > 0)
      .sort((left, right) => right.bytes - left.bytes)
      .slice(0, count)
  }
}
