import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { uploadSelfSigned } from '../support/certificate.ts'
import { databaseOf } from '../support/database.ts'
import { startReceiver, toldTo, type Receiver } from '../support/receiver.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'

const run = promisify(execFile)

let disk: string
let receiver: Receiver
let server: TestServer

beforeAll(async () => {
  disk = mkdtempSync(join(tmpdir(), 'deployer-disk-'))
  // A separate disk that can be filled.
  await run('mount', ['-t', 'tmpfs', '-o', 'size=64m', 'tmpfs', disk])
  receiver = await startReceiver()
  server = await startServer({ dataDirectory: disk })
  await server.api('POST', '/notifications', { name: 'all', kind: 'webhook', url: receiver.url })
})
afterAll(async () => {
  await server?.stop()
  receiver?.close()
  await run('umount', ['--lazy', disk])
  rmSync(disk, { recursive: true, force: true })
})

/** Leaves so much of the disk free, and makes the server check it. */
async function leaveFree(percent: number): Promise<void> {
  const file = join(disk, 'filling')
  rmSync(file, { force: true })
  const { bavail, blocks, bsize } = statfsSync(disk)
  writeFileSync(file, Buffer.alloc(Math.max(0, bavail - Math.ceil((blocks * percent) / 100)) * bsize))
  // It checks when it starts, and once a minute.
  await server.restart()
}

const told = (type: string) => toldTo(receiver).filter((each) => each.type === type)

test('a disk that is nearly full is reported once, and again after there was space', async () => {
  await leaveFree(12)
  await leaveFree(8)
  await waitFor(() => told('server.disk_low').length === 1, 'the first message')
  expect(told('server.disk_low')[0]!.data).toMatchObject({ path: disk, free_percent: expect.any(Number) })
  expect(told('server.disk_low')[0]!.data.free_percent).toBeLessThan(10)
  await leaveFree(12)
  await leaveFree(7)
  await leaveFree(20)
  await leaveFree(8)
  await waitFor(() => told('server.disk_low').length === 2, 'the second message')
  await leaveFree(50)
})

test('an expiring certificate is reported at 14, 7, 3 and 1 days, each once', async () => {
  for (const days of [20, 14, 7, 2, 1]) await uploadSelfSigned(server, `in-${days}.example.com`, days)
  await server.restart()
  await waitFor(() => told('certificate.expiring').length === 4, 'the messages')
  await server.restart()
  await uploadSelfSigned(server, 'in-3.example.com', 3)
  await server.restart()
  await waitFor(() => told('certificate.expiring').length === 5, 'the message of the last one')
  const all = told('certificate.expiring').map(({ data }) => data.days_left as number)
  expect([...all.slice(0, 4).sort((left, right) => right - left), all[4]]).toEqual([14, 7, 2, 1, 3])
  expect(told('certificate.expiring').at(-1)!.data.host).toBe('in-3.example.com')
})

/** Makes every attempt fail to be recorded, as on a disk without a free page, while `work` runs. */
async function withoutRecords(work: () => Promise<void>): Promise<void> {
  const database = databaseOf(disk)
  database.exec(`CREATE TRIGGER full BEFORE UPDATE ON notification_deliveries
    BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END`)
  try {
    await work()
  } finally {
    database.exec('DROP TRIGGER full')
    database.close()
  }
}

test('a delivered message is not sent again because that cannot be recorded', async () => {
  const isAboutIt = ({ body }: Receiver['received'][number]) => body.includes('unrecorded.example.com')
  // Every change makes it check what is due.
  const nudge = (name: string) => server.api('POST', '/environments', { name })
  const [{ id }] = (await server.api('GET', '/notifications')).body
  const first = async () => (await server.api('GET', `/notifications/${id}/deliveries`)).body[0]
  // Messages are sent one at a time: one of an earlier test that is not recorded yet would delay this one.
  await waitFor(async () => (await first()).status === 'delivered', 'the record of the last message')
  await withoutRecords(async () => {
    await uploadSelfSigned(server, 'unrecorded.example.com', 2)
    await server.restart()
    await waitFor(() => receiver.received.some(isAboutIt), 'the message')
    const failures = () => server.logs.split('a message cannot be sent').length
    for (const name of ['one', 'two', 'three']) {
      const before = failures()
      await nudge(name)
      await waitFor(() => failures() > before, 'another try to record it')
    }
  })
  await nudge('four')
  await waitFor(async () => (await first()).status === 'delivered', 'the record')
  expect(await first()).toMatchObject({ attempts: [{ status: 200, error: null }] })
  expect(receiver.received.filter(isAboutIt)).toHaveLength(1)
})
