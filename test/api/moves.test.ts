import { afterAll, beforeAll, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'

const WORKER = `nod-${'b'.repeat(20)}`

let server: TestServer
beforeAll(async () => {
  server = await startServer()
  const service = { name: 'wiki', image: 'busybox:1', deploy: false, disk_mount_path: '/data' }
  await server.api('POST', '/services', service)
  await server.api('POST', '/datastores', { kind: 'keyvalue', name: 'cache' })
  const database = databaseOf(server.dataDirectory)
  database.exec(
    `INSERT INTO nodes (id, name, status, created_at) VALUES ('${WORKER}', 'worker-1', 'ready', 0);
     UPDATE datastores SET status = 'available'`,
  )
  database.close()
})
afterAll(() => server.stop())

const refusal = (status: number, message: RegExp) => ({
  status,
  body: { error: { message: expect.stringMatching(message) } },
})

test.each(['/datastores/cache', '/services/wiki'])('%s is moved once, and can be kept', async (path) => {
  const before = (await server.api('GET', path)).body
  expect(before.move).toBeNull()
  const move = (fields: object) => server.api('POST', `${path}/move`, fields)
  expect(await move({})).toMatchObject({ status: 400 })
  expect(await move({ node: 'nowhere' })).toMatchObject(refusal(404, /no node nowhere/))
  expect(await move({ node: before.node })).toMatchObject(refusal(409, /is on the node .* already/))
  expect(await move({ node: WORKER, from_backup: true })).toMatchObject(refusal(409, /without from_backup/))
  expect(await server.api('POST', `${path}/move/cancel`)).toMatchObject(refusal(409, /is not being moved/))
  const begun = { from_node: before.node, to_node: WORKER, to_node_name: 'worker-1', status: 'running' }
  expect(await move({ node: 'Worker-1' })).toMatchObject({
    status: 202,
    body: { node: before.node, move: { ...begun, from_backup: false, error: null, finished_at: null } },
  })
  expect(await move({ node: WORKER })).toMatchObject(refusal(409, /is being moved/))
  expect(await server.api('POST', `${path}/move/cancel`)).toMatchObject({
    status: 200,
    body: { node: before.node, move: { status: 'canceled' } },
  })
})

test('a service that is being moved is neither backed up nor restored', async () => {
  await server.api('POST', '/services/wiki/move', { node: WORKER })
  expect(await server.api('POST', '/services/wiki/disk/backups', {})).toMatchObject(
    refusal(409, /service wiki is being moved/),
  )
})

test('the audit log tells both', async () => {
  const { body } = await server.api('GET', '/audit-events?limit=100')
  const actions = body.map(({ action }: { action: string }) => action)
  for (const action of [
    'datastore.moved',
    'datastore.move_canceled',
    'service.moved',
    'service.move_canceled',
  ])
    expect(actions).toContain(action)
})
