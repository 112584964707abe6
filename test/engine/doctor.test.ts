import { afterAll, beforeAll, expect, test } from 'vitest'
import type { CheckId, Finding } from '#server/doctor/schema.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker } from './live.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
  await waitFor(
    async () => (await findings()).container_addresses.outcome !== 'skipped',
    'the server to meet the engine',
  )
})
afterAll(() => server?.stop())

async function findings(): Promise<Record<CheckId, Finding>> {
  const { body } = await server.api('GET', '/server/doctor')
  return Object.fromEntries((body as Finding[]).map((finding) => [finding.id, finding])) as never
}

test('an engine is examined with its networks, and nothing of it is strange', async () => {
  const found = await findings()
  expect(found.engine).toMatchObject({
    outcome: 'passed',
    message: expect.stringMatching(/^Docker \d.* answers at \//),
  })
  const ids = [
    'log_driver',
    'container_addresses',
    'resolver',
    'metadata_addresses',
    'clock',
    'strays',
  ] as const
  for (const id of ids) expect(found[id]).toMatchObject({ id, outcome: 'passed' })
})

test('what has the label of the server but no record is named, and the advice removes it', async () => {
  const database = databaseOf(server.dataDirectory, { readOnly: true })
  const { value } = database.prepare("SELECT value FROM settings WHERE key = 'server_id'").get() as {
    value: string
  }
  database.close()
  const [label, name] = [`deployer.server=${value}`, `stray-${value}`]
  await docker('create', '--name', name, '--label', label, 'busybox:1')
  await docker('volume', 'create', '--label', label, `${name}-data`)
  const { strays } = await findings()
  expect(strays).toMatchObject({
    outcome: 'warning',
    message: `the container ${name}, the volume ${name}-data have the label of this server, but are not in its records`,
  })
  const commands = strays.fix!.match(/docker [^;.]+/g)!
  expect(commands).toHaveLength(2)
  for (const command of commands) await docker(...command.split(' ').slice(1))
  expect((await findings()).strays.outcome).toBe('passed')
})
