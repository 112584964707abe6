import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { databaseOf } from '../support/database.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let remote: GitRemote
let serverId: string
const strangers: string[] = []

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
  serverId = query("SELECT value FROM settings WHERE key = 'server_id'")[0]!.value as string
})
afterAll(async () => {
  for (const name of strangers) await docker('rm', '-f', name)
  await remote?.close()
  await server?.stop()
})

function query(sql: string, ...values: string[]): Record<string, unknown>[] {
  const database = databaseOf(server.dataDirectory)
  try {
    return database.prepare(sql).all(...values)
  } finally {
    database.close()
  }
}

/** Somebody else's container. */
async function runByHand(name: string, ...options: string[]): Promise<void> {
  const own = `by-hand-${process.pid}-${name}`
  strangers.push(own)
  await docker('run', '-d', '--name', own, '--network', 'none', ...options, 'sleep', '3600')
}

async function areRunning(): Promise<boolean> {
  const states = await docker('inspect', '-f', '{{.State.Running}}', ...strangers)
  return states.split('\n').every((state) => state === 'true')
}

async function labelsOf(container: string): Promise<Record<string, string>> {
  return JSON.parse(await docker('inspect', '-f', '{{json .Config.Labels}}', container)) as Record<
    string,
    string
  >
}

test('containers that people run from a service’s image are theirs, whatever their labels say', async () => {
  const repository = await createRepository({
    Dockerfile: [
      'FROM busybox:1',
      `LABEL deployer.kind=instance deployer.server=${serverId} deployer.claim=mine`,
      'CMD ["sh", "-c", "mkdir -p /www && echo up > /www/index.html && exec httpd -f -p $PORT -h /www"]',
      '',
    ].join('\n'),
  })
  const { body } = await server.api('POST', '/services', {
    name: 'claimed',
    repo_url: remote.url(repository),
  })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  const { image } = (await server.api('GET', `/deploys/${body.latest_deploy.id}`)).body as { image: string }
  const [instance] = (await server.api('GET', '/services/claimed/status')).body.instances as {
    name: string
  }[]
  expect(await labelsOf(instance!.name)).toMatchObject({
    'deployer.kind': 'instance',
    'deployer.server': serverId,
    'deployer.service': body.id,
    'deployer.claim': '',
    'deployer-image.service': body.id,
  })

  await runByHand('of-image', image)
  await runByHand('labelled', '--label', `deployer.service=${body.id}`, image)
  await runByHand(
    'plain',
    '--label',
    `deployer.server=${serverId}`,
    '--label',
    'deployer.kind=lift',
    'busybox:1',
  )
  await server.restart()
  await docker('kill', instance!.name)
  await waitFor(
    async () => ((await fetchFrom(server, 'claimed.localhost')).status === 200 ? true : null),
    'the instance to serve again, after a look at everything',
  )
  expect(await areRunning()).toBe(true)
  expect((await server.api('DELETE', '/services/claimed')).status).toBe(204)
  expect(await areRunning()).toBe(true)
})

test("what the server left is removed soon after its start, and other people's images with such names are not", async () => {
  const recorded = `deployer-${serverId}/srv-0123456789abcdef0123:dep-0123456789abcdef0123`
  const unrecorded = `deployer-${serverId}/srv-0123456789abcdef0123:by-hand`
  await server.kill()
  query("INSERT INTO engine_things (node_id, kind, name) SELECT id, 'image', ? FROM nodes", recorded)
  for (const name of [recorded, unrecorded]) await docker('tag', 'busybox:1', name)
  const [environment] = query('SELECT id FROM environments')
  const probe = `deployer-probe-${environment!.id as string}`
  const held = "SELECT address FROM addresses WHERE part = 'job' AND holder IS NOT NULL"
  query(
    "INSERT INTO addresses (environment_id, address, part, holder) VALUES (?, '10.0.0.1', 'job', ?)",
    environment!.id as string,
    probe,
  )
  const probeId = await docker('create', '--name', probe, 'busybox:1')
  query(
    "INSERT INTO engine_things (node_id, kind, name, engine_id) SELECT id, 'container', ?, ? FROM nodes",
    probe,
    probeId,
  )
  try {
    await server.restart()
    await waitFor(() => query(held).length === 0, 'the probe to be gone')
    expect(await docker('ps', '-aq', '--filter', `name=${probe}`)).toBe('')
    const names = () => docker('images', '--format', '{{.Repository}}:{{.Tag}}', `deployer-${serverId}/*`)
    // The period of the cleanup alone would be a minute.
    await waitFor(async () => !(await names()).includes(recorded), 'the image to be gone', 25_000)
    expect(await names()).toContain(unrecorded)
  } finally {
    await docker('rmi', unrecorded)
  }
})
