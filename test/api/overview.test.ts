import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { History } from '#server/metrics/history.ts'
import { readingBetween } from '#server/metrics/reading.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { sample, target } from '../unit/metrics-samples.ts'
import { refusal } from './account-client.ts'

const MINUTE_MS = 60_000

let server: TestServer
let ids: Record<string, string>

/** Two environments; one service runs with an instance too few, one failed, and one is not deployed. */
beforeAll(async () => {
  server = await startServer()
  await server.api('POST', '/environments', { name: 'staging' })
  const made = async (path: string, body: object): Promise<[string, string]> => {
    const answer = await server.api('POST', path, body)
    return [answer.body.name, answer.body.id]
  }
  const image = 'busybox:1'
  ids = Object.fromEntries([
    await made('/services', { name: 'api', image, instances: 2 }),
    await made('/services', { name: 'broken', image, type: 'background_worker' }),
    await made('/services', { name: 'web', image, environment: 'staging', deploy: false }),
    await made('/datastores', { name: 'cache', kind: 'keyvalue', environment: 'staging' }),
  ])
  await server.kill('SIGTERM')
  setStates()
  countRequests(Date.now() - 10 * MINUTE_MS, [7, 0, 1, 2])
  await server.restart()
})
afterAll(() => server?.stop())

/** What only a container engine would bring about. */
function setStates(): void {
  const database = databaseOf(server.dataDirectory)
  const { api, broken } = ids
  database
    .prepare("UPDATE deploys SET status = 'live', finished_at = created_at WHERE service_id = ?")
    .run(api!)
  database
    .prepare(
      'UPDATE services SET live_deploy_id = (SELECT id FROM deploys WHERE service_id = ?1) WHERE id = ?1',
    )
    .run(api!)
  database
    .prepare(
      `INSERT INTO instances (id, service_id, deploy_id, status, address, created_at)
       SELECT ?1 || '-1a2b3', ?1, live_deploy_id, 'ready', '10.208.0.9', created_at FROM services WHERE id = ?1`,
    )
    .run(api!)
  database
    .prepare(
      `UPDATE deploys SET status = 'build_failed', finished_at = created_at, error = 'no \u202eDockerfile' || char(10) || 'more'
       WHERE service_id = ?`,
    )
    .run(broken!)
  database.close()
}

/** Adds to the history what the data plane would have counted. */
function countRequests(at: number, statuses: [number, number, number, number]): void {
  const history = new History(join(server.dataDirectory, 'metrics.db'))
  const after = sample({ clock: 10, targets: [target(ids.api!, statuses)] })
  history.add(at, readingBetween(sample({ clock: 0 }), after))
  history.save()
  history.close()
}

test('an overview has services and datastores with what they do, and the requests of the last hour', async () => {
  const { status, body } = await server.api('GET', '/environments/production/overview')
  expect(status).toBe(200)
  expect(body.entries.map(({ name }: { name: string }) => name)).toEqual(['api', 'broken'])
  const [api, broken] = body.entries
  expect(api).toMatchObject({
    ...{ kind: 'service', id: ids.api, environment: 'production', type: 'web_service', state: 'degraded' },
    ...{ suspended: false, error: null, instances: { running: 1, wanted: 2 }, memory: null },
    ...{ latest_deploy: { status: 'live' }, last_run: null, url: expect.stringContaining('api.') },
  })
  expect(api.latest_deploy.id).toBe(api.live_deploy_id)
  expect(broken).toMatchObject({
    ...{ state: 'failed', error: 'no Dockerfile', instances: null, traffic: null },
    latest_deploy: { status: 'build_failed' },
  })

  const { requests, status_5xx } = api.traffic as Record<string, (number | null)[]>
  expect([requests!.length, status_5xx!.length, body.traffic_step_seconds]).toEqual([30, 30, 120])
  // Nothing was measured before that, and the point says when it was.
  const point = requests!.findIndex((count) => count !== null)
  expect([requests![point], status_5xx![point]]).toEqual([10, 2])
  const start = Date.parse(body.traffic_from) + point * 2 * MINUTE_MS
  expect(Date.parse(body.at) - 10 * MINUTE_MS - start).toBeLessThan(3 * MINUTE_MS)
  expect(Date.parse(body.at) - 10 * MINUTE_MS - start).toBeGreaterThanOrEqual(-1 * MINUTE_MS)
})

test('the overview of everything has every environment, production first, and follows each change', async () => {
  const { body } = await server.api('GET', '/overview')
  const shown = body.entries.map(({ name, environment, kind }: Record<string, string>) => [
    ...[name, environment, kind],
  ])
  expect(shown).toEqual([
    ['api', 'production', 'service'],
    ['broken', 'production', 'service'],
    ['web', 'staging', 'service'],
    ['cache', 'staging', 'datastore'],
  ])
  const cache = body.entries.at(-1)
  expect(cache).toMatchObject({ id: ids.cache, type: 'keyvalue', latest_deploy: null, traffic: null })
  expect(JSON.stringify(body)).not.toMatch(/password|deploy_hook/)

  await server.api('POST', `/services/${ids.api}/suspend`)
  const { entries } = (await server.api('GET', '/overview')).body
  expect(entries[0]).toMatchObject({ name: 'api', state: 'suspended', suspended: true })
})

test('there is no overview of an environment that is not there, and no unknown field', async () => {
  expect(await server.api('GET', '/environments/nowhere/overview')).toMatchObject(refusal(404, 'not_found'))
  expect(await server.api('GET', '/overview?environment=staging')).toMatchObject(
    refusal(400, 'invalid_request'),
  )
})
