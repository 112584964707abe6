import type { ContainerReading, Reading } from './reading.ts'
import type { Sample } from './sample.ts'

/** The result of the last round of measurement. */
export interface Latest {
  sample: Sample
  /** Null after the first round, which has nothing to compare with. */
  reading: Reading | null
}

/** Older results are not current. */
const FRESH_MS = 30_000

let latest: (Latest & { takenAt: number }) | null = null
let rounds = 0

/** Stores the result of a round of measurement. */
export function publishLatest(found: Latest): void {
  latest = { ...found, takenAt: performance.now() }
  rounds++
}

/** Changes whenever there is another result, and when the last one is too old. */
export function latestVersion(): string {
  return freshLatest() === null ? 'none' : String(rounds)
}

/** The last result; null when it is too old. */
export function freshLatest(): Latest | null {
  return latest !== null && performance.now() - latest.takenAt <= FRESH_MS ? latest : null
}

/** When the last result was published; null when it is too old. */
export function freshAt(): number | null {
  return freshLatest() && Date.now() - (performance.now() - latest!.takenAt)
}

/** The current figures of the containers, by name; empty when there are none. */
export function freshContainers(): Map<string, ContainerReading> {
  return new Map(freshLatest()?.reading?.containers?.map((each) => [each.container, each]))
}
