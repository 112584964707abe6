import { randomFrom } from '../test/support/random.ts'

/** Choices that follow from a seed alone. */
export interface Draw {
  /** A whole number from 0 to `count - 1`. */
  below(count: number): number
  chance(share: number): boolean
  pick<T>(from: readonly T[]): T
  /** One of these, each as often as its weight says. */
  weighted<T extends { weight: number }>(from: readonly T[]): T
}

/** Far enough apart for no two rounds of small seeds to begin alike. */
const SEED_STRIDE = 1_000_003

/**
 * The choices of one round. Each round has its own, so that an answer that came too late in one does not change what later
 * rounds draw.
 */
export function drawOf(seed: number, round: number): Draw {
  const random = randomFrom(seed * SEED_STRIDE + round)
  const below = (count: number): number => Math.floor(random() * count)
  return {
    below,
    chance: (share) => random() < share,
    pick: (from) => from[below(from.length)]!,
    weighted(from) {
      let left = random() * from.reduce((sum, { weight }) => sum + weight, 0)
      return from.find(({ weight }) => (left -= weight) < 0) ?? from.at(-1)!
    },
  }
}
