import { describe, expect, test } from 'vitest'
import { ClockGuard } from '../../daemon/work/clock-guard.ts'

const MINUTE_MS = 60_000
const NOON = Date.parse('2026-01-01T12:00:00Z')

/** A host whose clock can be set. */
class Host {
  #passed = 0
  #set = NOON

  now(): number {
    return this.#set + this.#passed
  }

  monotonic(): number {
    return this.#passed
  }

  pass(milliseconds: number): void {
    this.#passed += milliseconds
  }

  set(byMilliseconds: number): void {
    this.#set += byMilliseconds
  }
}

describe('the clock', () => {
  test('is trusted while it advances evenly, and when it is corrected by some minutes', () => {
    const host = new Host()
    const guard = new ClockGuard(NOON, host)
    for (const by of [0, 9 * MINUTE_MS, -9 * MINUTE_MS]) {
      host.pass(60 * MINUTE_MS)
      host.set(by)
      expect(guard.heldMs()).toBe(0)
    }
  })

  test.each([11 * MINUTE_MS, -11 * MINUTE_MS, 365 * 24 * 60 * MINUTE_MS])(
    'that is set by %d ms at once is not trusted for a minute',
    (by) => {
      const host = new Host()
      const guard = new ClockGuard(NOON, host)
      host.pass(1_000)
      host.set(by)
      expect(guard.heldMs()).toBe(MINUTE_MS)
      host.pass(40_000)
      expect(guard.heldMs()).toBe(20_000)
      host.pass(20_000)
      expect(guard.heldMs()).toBe(0)
    },
  )

  test('that is before the newest record at the start is not trusted for a minute', () => {
    const host = new Host()
    const guard = new ClockGuard(NOON + 5_000, host)
    expect(guard.heldMs()).toBe(MINUTE_MS)
    host.pass(MINUTE_MS)
    expect(guard.heldMs()).toBe(0)
  })
})
