import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { BackupSchedule } from '#daemon/backups/schedule.ts'
import { listBackups } from '#server/backups/store.ts'
import { createDatastore } from '#server/datastores/operations.ts'
import { recordDatastore } from '#server/datastores/store.ts'
import { openContext } from '../support/context.ts'

const HOUR_MS = 3_600_000

let opened: Awaited<ReturnType<typeof openContext>>
beforeAll(async () => (opened = await openContext()))
afterAll(async () => {
  vi.useRealTimers()
  await opened.close()
})

test('a scheduled backup that could not be recorded falls due again', async () => {
  const { database } = opened.context
  vi.useFakeTimers({ toFake: ['Date'], now: Date.UTC(2026, 0, 1, 12, 30) })
  const { id } = createDatastore({ kind: 'keyvalue', name: 'cache', backup_schedule: '0 * * * *' })
  recordDatastore(id, { backup_seen_at: Date.now() - HOUR_MS })
  const schedule = new BackupSchedule()
  const task = schedule.task(() => {})
  const look = async () => task.run(new AbortController().signal)
  database.run(`CREATE TRIGGER refuse BEFORE INSERT ON backups BEGIN SELECT RAISE(ABORT, 'no room'); END`)
  await expect(look()).rejects.toThrow('no room')
  database.run('DROP TRIGGER refuse')
  await look()
  expect(listBackups(id)).toMatchObject([{ trigger: 'schedule' }])
  await look()
  expect(listBackups(id)).toHaveLength(1)
  schedule.stop()
})
