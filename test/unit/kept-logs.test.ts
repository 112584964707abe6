import { afterAll, afterEach, beforeAll, expect, test, vi } from 'vitest'
import { LogCollector } from '#daemon/logs/collector.ts'
import { useDatabase } from '#server/context.ts'
import { createService } from '#server/services/operations.ts'
import { openContext } from '../support/context.ts'

const MONTH_MS = 30 * 86_400_000

let close: () => Promise<void>
beforeAll(async () => ({ close } = await openContext()))
afterEach(() => void vi.useRealTimers())
afterAll(() => close())

test('stored logs survive a clock that was set ahead, and back', async () => {
  const tidying = new LogCollector(() => null).task()
  const { signal } = new AbortController()
  const { id } = createService({ name: 'api', type: 'background_worker', deploy: false })
  useDatabase().run(
    `INSERT INTO log_instances (id, service_id, deploy_id, created_at, gone_at) VALUES ('gone', ?, 'dep-1', 0, ?)`,
    id,
    Date.now(),
  )
  await tidying.run(signal)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + MONTH_MS })
  await tidying.run(signal)
  expect(useDatabase().all('SELECT id FROM log_instances')).toEqual([{ id: 'gone' }])
})
