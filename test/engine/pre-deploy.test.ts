import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker, endOf, fetchFrom } from './live.ts'

let server: TestServer

beforeAll(async () => {
  server = await startServer({ engine: true })
})
afterAll(() => server?.stop())

const SERVE = 'mkdir -p /www; echo $VERSION > /www/index.html; exec httpd -f -p $PORT -h /www'

async function create(name: string, fields: object = {}): Promise<string> {
  const { status, body } = await server.api('POST', '/services', {
    name,
    image: 'busybox:1',
    start_command: SERVE,
    env: [{ key: 'VERSION', value: 'one' }],
    ...fields,
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  return body.latest_deploy.id as string
}

async function logOf(deployId: string): Promise<string> {
  const response = await fetch(`${server.url}/api/v1/deploys/${deployId}/logs`, {
    headers: { authorization: `Bearer ${server.token}` },
  })
  return response.text()
}

const containers = (): Promise<string> =>
  docker('ps', '-a', '--filter', 'label=deployer.kind=pre-deploy', '--format', '{{.Names}}')

test('runs once before the rollout, with the variables, without the disk, and its output is in the log', async () => {
  const first = await create('migrated', {
    disk_mount_path: '/data',
    pre_deploy_command: 'echo "migrating $VERSION as $DEPLOYER_SERVICE_NAME"; ls -d /data 2>&1 || true',
  })
  expect(await endOf(server, first)).toMatchObject({ status: 'live', error: null })
  const log = await logOf(first)
  expect(log).toMatch(/migrating one as migrated[^]*No such file[^]*is ready/)
  expect(log.match(/migrating one/g)).toHaveLength(1)
  const restart = await server.api('POST', '/services/migrated/restart')
  expect(await endOf(server, restart.body.id)).toMatchObject({ status: 'live' })
  expect(await logOf(restart.body.id)).not.toMatch(/migrating/)
  expect(await containers()).not.toContain(first)
})

test('that fails ends the deploy with its last lines, and the old version keeps serving', async () => {
  expect(await endOf(server, await create('guarded'))).toMatchObject({ status: 'live' })
  await server.api('PATCH', '/services/guarded', {
    pre_deploy_command: 'echo no such table; exit 4',
    env: [{ key: 'VERSION', value: 'two' }],
  })
  const { body } = await server.api('POST', '/services/guarded/deploys')
  const ended = await endOf(server, body.id)
  expect(ended.status).toBe('deploy_failed')
  expect(ended.error).toMatch(/pre-deploy command ended with exit code 4\nno such table/)
  expect((await fetchFrom(server, 'guarded.localhost')).text.trim()).toBe('one')
  await waitFor(async () => !(await containers()).includes(body.id), 'its container to be gone')
})

test('is killed when the deploy is canceled', async () => {
  const deploy = await create('patient', { pre_deploy_command: 'echo waiting; exec sleep 600' })
  await waitFor(async () => ((await logOf(deploy)).includes('"waiting"') ? true : null), 'the command to run')
  expect((await server.api('POST', `/deploys/${deploy}/cancel`)).body.status).toBe('canceled')
  await waitFor(async () => ((await containers()).includes(deploy) ? null : true), 'its container to be gone')
})

test('is followed to its end when the server is killed meanwhile', async () => {
  const deploy = await create('survivor', {
    pre_deploy_command: 'echo begun; sleep 8; echo finished >> /proc/1/fd/1',
  })
  await waitFor(async () => ((await logOf(deploy)).includes('"begun"') ? true : null), 'the command to run')
  await server.kill()
  await server.restart()
  expect(await endOf(server, deploy)).toMatchObject({ status: 'live', error: null })
  const log = await logOf(deploy)
  expect(log.match(/"begun"/g)).toHaveLength(1)
  expect(log).toMatch(/"finished"[^]*is ready/)
})

describe.each([
  { how: 'well', tags: [], command: 'echo counting', ends: { job: 'succeeded', deploy: 'live' } },
  {
    how: 'with a failure',
    tags: ['slow'],
    command: 'echo counting; exit 3',
    ends: { job: 'failed', deploy: 'deploy_failed' },
  },
])('that ended $how', ({ tags, command, ends }) => {
  test('is not run again, nor is a job, because that could not be recorded', { tags }, async () => {
    const name = `counted-${ends.job}`
    expect(await endOf(server, await create(name))).toMatchObject({ status: 'live' })
    const database = databaseOf(server.dataDirectory)
    // As on a disk without a free page, although a write of something else finds one.
    const REFUSED = "BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"
    database.exec(
      `CREATE TRIGGER full_jobs BEFORE UPDATE OF status ON jobs WHEN NEW.status = '${ends.job}' ${REFUSED}`,
    )
    database.exec(`CREATE TRIGGER full_deploys BEFORE UPDATE OF status, pre_deployed ON deploys
    WHEN ${ends.deploy === 'live' ? 'NEW.pre_deployed = 1' : "NEW.status = 'deploy_failed'"} ${REFUSED}`)
    const job = (await server.api('POST', `/services/${name}/jobs`, { command })).body
    await server.api('PATCH', `/services/${name}`, { pre_deploy_command: command })
    const deploy = (await server.api('POST', `/services/${name}/deploys`)).body
    for (const [what, id] of [
      ['a job could not be recorded', job.id],
      ['a deploy could not be recorded', deploy.id],
    ])
      await waitFor(
        () => server.logs.split('\n').some((line) => line.includes(what) && line.includes(id)),
        what,
      )
    database.exec('DROP TRIGGER full_jobs; DROP TRIGGER full_deploys')
    database.close()
    const error = ends.deploy === 'live' ? null : expect.stringContaining('exit code 3\ncounting')
    expect(await endOf(server, deploy.id)).toMatchObject({ status: ends.deploy, error })
    await waitFor(
      async () => (await server.api('GET', `/jobs/${job.id}`)).body.status === ends.job,
      'the end of the job',
    )
    await waitFor(async () => !(await containers()).includes(deploy.id), 'its container to be gone')
    const log = await logOf(deploy.id)
    for (const each of [log, (await server.api('GET', `/jobs/${job.id}/logs`)).body as string])
      expect(each.match(/"stdout","line":"counting"/g)).toHaveLength(1)
    expect(log.match(/"line":"failed: /g) ?? []).toHaveLength(ends.deploy === 'live' ? 0 : 1)
  })
})
