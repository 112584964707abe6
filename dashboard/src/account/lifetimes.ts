import { serverTime } from '../api/clock.ts'

const DAY_MS = 86_400_000

/** How long a token can be valid; 0 days means that it never expires. */
export const LIFETIMES = [
  { label: 'Never', days: 0 },
  { label: 'In 30 days', days: 30 },
  { label: 'In 90 days', days: 90 },
  { label: 'In a year', days: 365 },
]

/** When a token that is valid for this many days from now expires, as the API takes it. */
export function expiryAfter(days: number): { expires_at?: string } {
  return days > 0 ? { expires_at: new Date(serverTime() + days * DAY_MS).toISOString() } : {}
}
