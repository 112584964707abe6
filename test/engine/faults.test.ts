import { readdirSync, readFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepository, startGitHttp, type FileSpec, type GitHttp } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
let open: GitHttp
let locked: GitHttp

beforeAll(async () => {
  server = await startServer({ engine: true })
  open = await startGitHttp()
  locked = await startGitHttp({ password: 'tru3-passw0rd' })
})

afterAll(async () => {
  const services = (await server?.api('GET', '/services'))?.body as { id: string }[] | undefined
  await Promise.all((services ?? []).map(({ id }) => server.api('DELETE', `/services/${id}?force`)))
  await open?.close()
  await locked?.close()
  await server?.stop()
})

/** Serves a text at once; the text identifies the version. */
function page(text: string): string {
  return `mkdir -p /tmp/w && echo -n ${text} > /tmp/w/index.html && exec httpd -f -p $PORT -h /tmp/w`
}

let made = 0

interface Made {
  id: string
  name: string
  deploy: string
}

async function create(fields: object): Promise<Made> {
  const name = `fault-${++made}`
  const { status, body } = await server.api('POST', '/services', { name, ...fields })
  expect(status).toBe(201)
  return { id: body.id, name, deploy: body.latest_deploy?.id }
}

async function createFrom(files: Record<string, FileSpec>, fields: object = {}): Promise<Made> {
  return create({ repo_url: open.url(await createRepository(files)), ...fields })
}

/** A service that is live with an image and a page. */
async function createLive(text: string, fields: object = {}): Promise<Made> {
  const service = await create({ image: 'busybox:1', start_command: page(text), ...fields })
  expect(await endOf(server, service.deploy)).toMatchObject({ status: 'live', error: null })
  return service
}

async function untilStatus(deploy: string, status: string): Promise<void> {
  await waitFor(
    async () => (await server.api('GET', `/deploys/${deploy}`)).body.status === status,
    `${deploy} to be ${status}`,
  )
}

async function deployOf(service: Made, body: object = {}): Promise<string> {
  const answer = await server.api('POST', `/services/${service.name}/deploys`, body)
  expect(answer.status).toBe(202)
  return answer.body.id
}

/** The command lines of the whole host: steps of builds run there. */
function processes(): string[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(commandOf)
}

function isRunning(argument: string): boolean {
  return processes().includes(`sleep\0${argument}\0`)
}

function commandOf(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8')
  } catch {
    return ''
  }
}

let sleeps = 0

/** A number of seconds that no other sleep of the host uses. */
function longTime(): string {
  return `${5_000 + (process.pid % 1_000)}.${++sleeps}`
}

/** Checks that nothing of a service runs or is left except `containers` containers. */
async function expectOnly(service: Made, containers: number): Promise<void> {
  await waitFor(
    async () => (await containersOf(service.id)).length === containers,
    `${containers} containers of ${service.name}`,
  )
  const folders = ['checkouts', 'archives']
  await waitFor(
    () => folders.every((name) => readdirSync(join(server.dataDirectory, name)).length === 0),
    'the folders to be empty',
  )
  expect((await server.request('GET', '/healthz')).body).toBe('ok')
}

describe('a repository that cannot be read', () => {
  const DOCKERFILE = { Dockerfile: 'FROM busybox:1\n' }
  test.each([
    [
      'is private',
      async () => ({ repo_url: locked.url(await createRepository(DOCKERFILE)) }),
      /credentials|sign-in|private/i,
    ],
    [
      'is private and the password is wrong',
      async () => {
        const url = new URL(locked.url(await createRepository(DOCKERFILE)))
        url.username = 'ada'
        url.password = 'wr0ng-passw0rd'
        return { repo_url: url.href }
      },
      /credentials|refused|password/i,
    ],
    [
      'is at an address where nobody listens',
      async () => ({ repo_url: 'http://127.0.0.1:9/x.git' }),
      /127\.0\.0\.1/,
    ],
    [
      'is at a host that has no address',
      async () => ({ repo_url: 'https://git.invalid/x.git' }),
      /git\.invalid/,
    ],
    [
      'has a root_dir that is a link out of it',
      async () => ({
        repo_url: open.url(await createRepository({ out: { content: '/etc', symlink: true } })),
        root_dir: 'out',
      }),
      /root_dir out/,
    ],
    [
      'has a Dockerfile that is a link out of it',
      async () => ({
        repo_url: open.url(await createRepository({ Dockerfile: { content: '/etc/passwd', symlink: true } })),
        runtime: 'docker',
      }),
      /Dockerfile/,
    ],
    [
      'has an empty Dockerfile',
      async () => ({ repo_url: open.url(await createRepository({ Dockerfile: ' \n' })) }),
      /Dockerfile.*empty/,
    ],
    [
      'copies a file that is not there',
      async () => ({
        repo_url: open.url(await createRepository({ Dockerfile: 'FROM busybox:1\nCOPY nothing /x\n' })),
      }),
      /nothing/,
    ],
    [
      'is not of the language that was named',
      async () => ({ repo_url: open.url(await createRepository({ 'a.txt': '' })), runtime: 'node' }),
      /package\.json/,
    ],
  ])('because it %s ends build_failed, and nothing is left', async (_, fields, message) => {
    const service = await create(await fields())
    const { status, error } = await endOf(server, service.deploy)
    expect({ status, error }).toEqual({ status: 'build_failed', error: expect.stringMatching(message) })
    expect(error).not.toMatch(/passw0rd|^\s+at /m)
    expect((await server.api('GET', `/services/${service.name}`)).body.state).toBe('failed')
    await expectOnly(service, 0)
  })

  test('because its host never answers ends with a cancel, which stops git', async () => {
    const silent = createServer(() => {}).listen(0, '127.0.0.1')
    await once(silent, 'listening')
    const address = `127.0.0.1:${(silent.address() as AddressInfo).port}/silent.git`
    const service = await create({ repo_url: `http://${address}` })
    const asks = () => processes().some((command) => command.includes(address))
    await waitFor(asks, 'git to ask')
    await server.api('POST', `/deploys/${service.deploy}/cancel`)
    await waitFor(() => !asks(), 'git to end')
    await expectOnly(service, 0)
    silent.close()
  })

  test(
    'for a commit that it does not have, by full id, short id or name, names the commit',
    { tags: ['slow'] },
    async () => {
      const service = await createFrom(DOCKERFILE, { deploy: false })
      for (const commit of ['0'.repeat(40), 'abcdef0', 'v9.9.9']) {
        const { status, error } = await endOf(server, await deployOf(service, { commit }))
        expect([commit, status, error]).toEqual([commit, 'build_failed', expect.stringContaining(commit)])
      }
      await expectOnly(service, 0)
    },
  )

  test('never shows its credentials, not in the log either', async () => {
    const url = locked.urlWithPassword(await createRepository({ Dockerfile: 'FROM no-such-image:9\n' }))
    const service = await create({ repo_url: url })
    expect((await endOf(server, service.deploy)).status).toBe('build_failed')
    const lines = (await server.api('GET', `/deploys/${service.deploy}/logs`)).body as string
    expect(lines).toContain('commit')
    expect(lines + server.logs).not.toContain('tru3-passw0rd')
  })
})

describe('a program that does not come up', () => {
  test('leaves nothing if it is a worker that exits', async () => {
    const service = await create({
      type: 'background_worker',
      image: 'busybox:1',
      start_command: 'echo the last words >&2; exit 9',
    })
    const { status, error } = await endOf(server, service.deploy)
    expect({ status, error }).toEqual({
      status: 'deploy_failed',
      error: expect.stringMatching(/exit code 9[^]*the last words/),
    })
    await expectOnly(service, 0)
  })

  test('because its command does not exist says so', async () => {
    const service = await create({ image: 'busybox:1', start_command: 'no-such-program --serve' })
    expect(await endOf(server, service.deploy)).toMatchObject({
      status: 'deploy_failed',
      error: expect.stringMatching(/no-such-program/),
    })
    await expectOnly(service, 0)
  })

  test('because it uses too much memory says what to raise', async () => {
    const service = await create({
      image: 'busybox:1',
      memory_limit_mb: 16,
      start_command: 'tail /dev/zero',
    })
    expect(await endOf(server, service.deploy)).toMatchObject({
      status: 'deploy_failed',
      error: expect.stringMatching(/memory_limit_mb/),
    })
    await expectOnly(service, 0)
  })

  test('or fails its health check does not replace the serving version, and can be canceled while it tries', async () => {
    const service = await createLive('steady')
    await server.api('PATCH', `/services/${service.name}`, {
      start_command: page('sick'),
      health_check_path: '/not-there',
    })
    const deploy = await deployOf(service)
    await untilStatus(deploy, 'deploying')
    await waitFor(async () => (await containersOf(service.id)).length === 2, 'both containers')
    expect((await fetchFrom(server, `${service.name}.localhost`)).text).toBe('steady')
    expect((await server.api('POST', `/deploys/${deploy}/cancel`)).body.status).toBe('canceled')
    await expectOnly(service, 1)
    expect((await fetchFrom(server, `${service.name}.localhost`)).text).toBe('steady')
    expect((await server.api('GET', `/services/${service.name}`)).body).toMatchObject({
      state: 'running',
      live_deploy_id: service.deploy,
      latest_deploy: { id: deploy, status: 'canceled' },
    })
  })

  test('with several instances leaves none of them', { tags: ['slow'] }, async () => {
    const service = await create({ image: 'busybox:1', instances: 3, start_command: 'exit 1' })
    expect((await endOf(server, service.deploy)).status).toBe('deploy_failed')
    await expectOnly(service, 0)
  })
})

describe('while a build runs', () => {
  test('others wait; one is canceled in the queue, one superseded, and canceling the build lets the next start', async () => {
    const time = longTime()
    const slow = await createFrom({ Dockerfile: `FROM busybox:1\nRUN sleep ${time}\n` })
    await waitFor(() => isRunning(time), 'the step')
    const waiting = await createFrom({ Dockerfile: 'FROM busybox:1\n' })
    const canceled = await server.api('POST', `/deploys/${waiting.deploy}/cancel`)
    expect(canceled.body).toMatchObject({ status: 'canceled', started_at: null })
    const second = await createFrom({ Dockerfile: `FROM busybox:1\nCMD ${page('next')}\n` })
    const newer = await deployOf(second)
    expect((await server.api('GET', `/deploys/${second.deploy}`)).body).toMatchObject({
      status: 'canceled',
      error: `superseded by ${newer}`,
    })
    // Only what waits is superseded: the build of this service continues next to a newer deploy.
    const behind = await deployOf(slow)
    expect((await server.api('GET', `/deploys/${slow.deploy}`)).body.status).toBe('building')
    await server.api('POST', `/deploys/${behind}/cancel`)
    expect((await server.api('POST', `/deploys/${slow.deploy}/cancel`)).body.status).toBe('canceled')
    await waitFor(() => !isRunning(time), 'the step to end')
    expect(await endOf(server, newer)).toMatchObject({ status: 'live', error: null })
    expect((await server.api('GET', `/services/${slow.name}`)).body.state).toBe('not_deployed')
    expect((await server.api('POST', `/deploys/${newer}/cancel`)).status).toBe(409)
    await expectOnly(slow, 0)
    await expectOnly(second, 1)
  })

  test('a newer deploy of the source takes its place if the service says so', async () => {
    const time = longTime()
    const slow = await createFrom({ Dockerfile: `FROM busybox:1\nRUN sleep ${time}\n` })
    await waitFor(() => isRunning(time), 'the step')
    await server.api('PATCH', `/services/${slow.name}`, { overlap_policy: 'override' })
    const newer = await deployOf(slow)
    expect((await server.api('GET', `/deploys/${slow.deploy}`)).body).toMatchObject({
      status: 'canceled',
      error: `superseded by ${newer}`,
    })
    await untilStatus(newer, 'building')
    await server.api('POST', `/deploys/${newer}/cancel`)
    await expectOnly(slow, 0)
  })

  test.each([
    ['suspending', 'POST', '/suspend', 200],
    ['deleting', 'DELETE', '', 204],
  ])('%s the service ends the step and leaves nothing', async (_, method, path, status) => {
    const time = longTime()
    const service = await createFrom({ Dockerfile: `FROM busybox:1\nRUN sleep ${time}\n` })
    await waitFor(() => isRunning(time), 'the step')
    expect((await server.api(method, `/services/${service.name}${path}`)).status).toBe(status)
    await waitFor(() => !isRunning(time), 'the step to end')
    await expectOnly(service, 0)
  })
})

describe('while a rollout runs', () => {
  /** Never listens. */
  const STUCK = 'sleep 3000'

  async function removesAllContainers(method: string, path: string, status: number): Promise<void> {
    const service = await createLive('old')
    await server.api('PATCH', `/services/${service.name}`, { start_command: STUCK, instances: 2 })
    await deployOf(service)
    await waitFor(async () => (await containersOf(service.id)).length >= 3, 'the new containers')
    expect((await server.api(method, `/services/${service.name}${path}`)).status).toBe(status)
    await expectOnly(service, 0)
    const { status: answered } = await fetchFrom(server, `${service.name}.localhost`)
    expect(answered).toBe(method === 'DELETE' ? 404 : 503)
    if (method === 'DELETE') expect((await server.api('GET', `/services/${service.id}`)).status).toBe(404)
  }

  test('deleting the service removes the new containers and the old ones', () =>
    removesAllContainers('DELETE', '', 204))

  test('suspending the service removes them too', { tags: ['slow'] }, () =>
    removesAllContainers('POST', '/suspend', 200),
  )

  test('a deploy that is deleted with its service is gone, including its log', async () => {
    const service = await create({ image: 'busybox:1', start_command: STUCK })
    await waitFor(async () => (await containersOf(service.id)).length === 1, 'the container')
    expect((await server.api('DELETE', `/services/${service.name}`)).status).toBe(204)
    expect((await server.api('GET', `/deploys/${service.deploy}`)).status).toBe(404)
    expect((await server.api('GET', `/deploys/${service.deploy}/logs`)).status).toBe(404)
    await expectOnly(service, 0)
    // Its name is free at once.
    expect((await server.api('POST', '/services', { name: service.name, deploy: false })).status).toBe(201)
  })

  test('of a first deploy leaves a service that was never deployed', async () => {
    const service = await create({ image: 'busybox:1', start_command: STUCK })
    await waitFor(async () => (await containersOf(service.id)).length === 1, 'the container')
    expect((await server.api('GET', `/services/${service.name}`)).body.state).toBe('deploying')
    expect((await server.api('POST', `/deploys/${service.deploy}/cancel`)).status).toBe(200)
    await expectOnly(service, 0)
    expect((await server.api('GET', `/services/${service.name}`)).body.state).toBe('not_deployed')
    expect((await fetchFrom(server, `${service.name}.localhost`)).status).toBe(503)
  })
})

describe('a rollback', () => {
  test('restores command, variables and port of its deploy, but neither the limits nor the number of instances', async () => {
    const service = await createLive('first', { env: [{ key: 'PORT', value: '8101' }] })
    await server.api('PATCH', `/services/${service.name}`, {
      start_command: page('second'),
      port: 8_102,
      memory_limit_mb: 32,
    })
    const second = await deployOf(service)
    expect((await endOf(server, second)).status).toBe('live')
    const rollback = await server.api('POST', `/services/${service.name}/rollback`, {
      deploy_id: service.deploy,
    })
    expect(rollback).toMatchObject({ status: 202, body: { trigger: 'rollback' } })
    expect((await endOf(server, rollback.body.id)).status).toBe('live')
    expect((await fetchFrom(server, `${service.name}.localhost`)).text).toBe('first')
    expect((await server.api('GET', `/deploys/${rollback.body.id}`)).body.port).toBe(8_101)
    await expectOnly(service, 1)
    const [container] = await containersOf(service.id)
    expect(await docker('inspect', '--format', '{{.HostConfig.Memory}}', container!)).toBe(
      String(32 * 1024 * 1024),
    )
    // Settings stay as they are: the next deploy uses them.
    expect((await server.api('GET', `/services/${service.name}`)).body.start_command).toBe(page('second'))
  })

  test('is refused to one that failed, to one that was canceled and while the service is suspended', async () => {
    const service = await createLive('only')
    await server.api('PATCH', `/services/${service.name}`, { start_command: 'exit 1' })
    const failed = await deployOf(service)
    expect((await endOf(server, failed)).status).toBe('deploy_failed')
    const to = (deploy_id: string) => server.api('POST', `/services/${service.name}/rollback`, { deploy_id })
    expect((await to(failed)).status).toBe(409)
    expect((await server.api('POST', `/deploys/${failed}/cancel`)).status).toBe(409)
    await server.api('POST', `/services/${service.name}/suspend`)
    expect((await to(service.deploy)).status).toBe(409)
    expect((await server.api('POST', `/services/${service.name}/restart`)).status).toBe(409)
    await expectOnly(service, 0)
    expect((await server.api('POST', `/services/${service.name}/resume`)).status).toBe(200)
    await waitFor(
      async () => (await fetchFrom(server, `${service.name}.localhost`)).text === 'only',
      'the live version, though a later deploy failed',
    )
  })
})

describe('a live service', () => {
  test('that is renamed answers at its new host at once and no longer at the old one', async () => {
    const service = await createLive('moved')
    const name = `${service.name}-new`
    expect((await server.api('PATCH', `/services/${service.name}`, { name })).status).toBe(200)
    expect((await fetchFrom(server, `${name}.localhost`)).text).toBe('moved')
    expect((await fetchFrom(server, `${service.name}.localhost`)).status).toBe(404)
    await expectOnly(service, 1)
  })

  test(
    'that is restarted many times at once runs the last restart; the waiting ones name their successor',
    { tags: ['slow'] },
    async () => {
      const service = await createLive('again')
      const answers = await Promise.all(
        Array.from({ length: 5 }, () => server.api('POST', `/services/${service.name}/restart`)),
      )
      expect(answers.map(({ status }) => status)).toEqual(Array(5).fill(202))
      await Promise.all(answers.map(({ body }) => endOf(server, body.id)))
      // One that was live when it was checked may have been replaced since.
      const ends = await Promise.all(answers.map(({ body }) => endOf(server, body.id)))
      for (const { status, error } of ends) {
        if (status === 'canceled') expect(error).toMatch(/^superseded by dep-/)
        else expect(['live', 'deactivated']).toContain(status)
      }
      expect(ends.filter(({ status }) => status === 'live')).toHaveLength(1)
      await expectOnly(service, 1)
      expect((await fetchFrom(server, `${service.name}.localhost`)).text).toBe('again')
    },
  )

  test('with no instances goes live without a container, and its command is only tried when it has one', async () => {
    const service = await create({ image: 'busybox:1', instances: 0, start_command: page('none') })
    expect((await endOf(server, service.deploy)).status).toBe('live')
    expect((await server.api('GET', `/services/${service.name}`)).body.state).toBe('idle')
    expect((await fetchFrom(server, `${service.name}.localhost`)).status).toBe(503)
    await expectOnly(service, 0)
    await server.api('POST', `/services/${service.name}/scale`, { instances: 1 })
    await waitFor(
      async () => (await fetchFrom(server, `${service.name}.localhost`)).text === 'none',
      'the page',
    )
  })
})

describe('after all failures', () => {
  test('the server knows its engine and keeps nothing without a service', async () => {
    const { body } = await server.api('GET', '/info')
    expect(body).toMatchObject({
      runtime_version: expect.stringMatching(/\d+\.\d+/),
      runtime_cpus: expect.any(Number),
      runtime_memory_bytes: expect.any(Number),
    })
    const { body: services } = await server.api('GET', '/services')
    for (const { id, name } of services as { id: string; name: string }[]) {
      const expected = await containersOf(id)
      const { body: status } = await server.api('GET', `/services/${name}/status`)
      expect(status.instances.map((instance: { name: string }) => instance.name).sort()).toEqual(
        expected.sort(),
      )
    }
    expect(server.logs).not.toMatch(/ error /)
  })
})
