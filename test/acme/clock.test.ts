import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitFor } from '../support/wait.ts'
import { startPlace, type Place } from './place.ts'

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS
/** A certificate of the authority has ended by then. */
const YEAR_MS = 365 * DAY_MS
/** An order that is not held begins within a moment of what it is for. */
const MOMENT_MS = 2_000

let place: Place
let folder: string
let file: string

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'deployer-clock-'))
  file = join(folder, 'ahead')
  place = await startAtClock(file)
})
afterAll(async () => {
  await place?.stop()
  rmSync(folder, { recursive: true, force: true })
})

/** Starts a server whose clock a file sets. */
function startAtClock(clock: string): Promise<Place> {
  const program = new URL('settable-clock.mjs', import.meta.url)
  const env = { NODE_OPTIONS: `--import=${program.href}`, SETTABLE_CLOCK: clock }
  return startPlace({ authority: { badNonces: 0 }, server: { env } })
}

/** Sets the clock of the server so many milliseconds off the real one. */
function setClock(ahead: number): void {
  writeFileSync(file, String(ahead))
}

function orders(of: Place = place): number {
  return of.authority.log.split('/order-plz -> calling').length - 1
}

test('a clock that jumps ahead has nothing ordered and nothing ended, and is said once', async () => {
  await place.server.api('POST', '/services', { name: 'api' })
  const before = await place.reaches('api.example.com', 'issued')
  const shown = await place.shown('api.example.com')
  const ordered = orders()

  setClock(YEAR_MS)
  await waitFor(() => place.server.logs.includes('the clock was set forward'), 'the jump to be noticed')
  // Wakes the task that orders.
  await place.server.api('POST', '/services', { name: 'later' })
  await delay(MOMENT_MS)
  expect(orders()).toBe(ordered)
  expect(place.server.logs.split('the clock was set forward')).toHaveLength(2)
  expect(await place.entry('api.example.com')).toEqual(before)
  expect((await place.shown('api.example.com')).serialNumber).toBe(shown.serialNumber)

  setClock(0)
  await waitFor(() => place.server.logs.includes('the clock was set back'), 'it to be set right')
  await place.server.restart()
  // Nothing that was recorded meanwhile delays anything.
  await place.reaches('later.example.com', 'issued')
  expect((await place.shown('api.example.com')).serialNumber).toBe(shown.serialNumber)
  expect(orders()).toBe(ordered + 1)
})

describe.each([
  { when: 'past the end of every certificate', days: 365, state: 'failed', error: 'expired at', tags: [] },
  { when: 'past the time to renew them', days: 75, state: 'issued', error: null, tags: ['slow'] },
])('a server that starts with a clock $when', ({ days, state, error, tags }) => {
  test('does not order again and again', { tags }, async () => {
    const ahead = join(folder, `ahead-by-${days}`)
    writeFileSync(ahead, String(days * DAY_MS))
    const started = await startAtClock(ahead)
    try {
      await started.server.api('POST', '/services', { name: 'api' })
      const entry = await started.reaches('api.example.com', state)
      if (error === null) expect(entry.error).toBeNull()
      else expect(entry.error).toContain(error)
      // The check that orders for the next host has found everything else that was due.
      await started.server.api('POST', '/services', { name: 'next' })
      await started.reaches('next.example.com', state)
      expect(orders(started)).toBe(2)
    } finally {
      await started.stop()
    }
  })
})
