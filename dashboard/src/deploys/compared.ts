import type { StepTimes } from '../api/types.ts'
import { duration } from '../ui/time.ts'

/** Smaller differences say more about the host than about the deploy. */
const NOTABLE_MS = 1_000
const NOTABLE_SHARE = 0.1

interface Difference {
  /** `4.2 s slower`. */
  text: string
  title: string
  isSlower: boolean
}

/** How a time differs from that of the deploy that it is compared with; null if it does not differ noticeably. */
export function comparedWith(milliseconds: number | null, previous: StepTimes | null): Difference | null {
  const before = previous?.duration_ms ?? null
  if (milliseconds === null || before === null) return null
  const difference = milliseconds - before
  const size = Math.abs(difference)
  if (size < NOTABLE_MS || size < before * NOTABLE_SHARE) return null
  const isSlower = difference > 0
  const text = `${duration(size)} ${isSlower ? 'slower' : 'faster'}`
  const how = previous?.cached ? 'cached' : duration(before)
  return { text, isSlower, title: `${text} than in the last deploy that went live (${how})` }
}
