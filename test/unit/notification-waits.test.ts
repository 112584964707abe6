import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { testMessage } from '#server/notifications/messages.ts'
import {
  dueDelivery,
  dueNotifications,
  insertDelivery,
  notifications,
  recordAttempt,
} from '#server/notifications/store.ts'
import { openContext } from '../support/context.ts'

const HOUR_MS = 3_600_000
const NOW = Date.parse('2026-03-01T00:00:00Z')
const ID = 'ntf-1'

let close: () => Promise<void>
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['Date'], now: NOW })
  close = (await openContext()).close
  const row = {
    id: ID,
    name: 'team',
    kind: 'webhook',
    environment_id: null,
    services: null,
    enabled: 1,
  } as const
  const sealed = { url: null, secret: null, recipients: '[]', events: null }
  notifications.insert({ ...row, ...sealed, created_at: NOW, updated_at: NOW })
})
afterEach(async () => {
  vi.useRealTimers()
  await close()
})

/** What may be sent at a moment. */
const due = (now: number) => ({ who: dueNotifications(now), what: dueDelivery(ID, now)?.status })
const NOTHING = { who: [], what: undefined }
const SOMETHING = { who: [ID], what: 'pending' }

test('a failed message waits for its next attempt, and no longer if the clock was set back', () => {
  insertDelivery(ID, testMessage('team'))
  const attempt = { at: '', status: 500, error: 'refused', duration_ms: 1 }
  recordAttempt(dueDelivery(ID, NOW)!, attempt, 'pending', NOW + HOUR_MS)
  expect(due(NOW + HOUR_MS - 1)).toEqual(NOTHING)
  expect(due(NOW + HOUR_MS)).toEqual(SOMETHING)
  expect(due(NOW - 24 * HOUR_MS)).toEqual(SOMETHING)
})
