import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { beginFlow, takeFlow } from '#server/git/flows.ts'

const HOUR_MS = 60 * 60_000
const begin = (connectionId = 'git-1') =>
  beginFlow({ connectionId, step: 'manifest', redirectUri: 'https://dashboard.example.com/git/callback' })

beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }))
afterEach(() => void vi.useRealTimers())

test('a state is valid once, and only within an hour', () => {
  const [once, late] = [begin(), begin('git-2')]
  expect(takeFlow(once)).toMatchObject({ connectionId: 'git-1', step: 'manifest' })
  expect(takeFlow(once)).toBeUndefined()
  vi.advanceTimersByTime(HOUR_MS + 1)
  expect(takeFlow(late)).toBeUndefined()
  expect(takeFlow('f'.repeat(40))).toBeUndefined()
})

test('of flows that were begun and not finished the newest thousand are known', () => {
  const states = Array.from({ length: 1_001 }, () => begin())
  expect(takeFlow(states[0]!)).toBeUndefined()
  expect([1, 1_000].map((index) => takeFlow(states[index]!))).not.toContain(undefined)
})
