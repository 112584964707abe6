import type { ContainerReading, Reading } from './reading.ts'
import type { Sample } from './sample.ts'

/** What the last round of measuring has found. */
export interface Latest {
  sample: Sample
  /** Null after the first round, which has nothing to compare with. */
  reading: Reading | null
}

/** What is older says nothing of now. */
const FRESH_MS = 30_000

let latest: (Latest & { takenAt: number }) | null = null

/** Keeps what a round of measuring has found. */
export function publishLatest(found: Latest): void {
  latest = { ...found, takenAt: performance.now() }
}

/** What was found last; null when that is too long ago. */
export function freshLatest(): Latest | null {
  return latest !== null && performance.now() - latest.takenAt <= FRESH_MS ? latest : null
}

/** The containers' figures by their names, as far as there are fresh ones. */
export function freshContainers(): Map<string, ContainerReading> {
  return new Map(freshLatest()?.reading?.containers?.map((each) => [each.container, each]))
}
