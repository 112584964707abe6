import { execFile } from 'node:child_process'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, endOf } from './live.ts'

let server: TestServer
let remote: GitRemote

beforeAll(async () => {
  server = await startServer({ engine: true })
  remote = await startGitHttp()
})

afterAll(async () => {
  await remote?.close()
  await server?.stop()
})

let services = 0

interface Ended {
  id: string
  name: string
  status: string
  error: string | null
}

/** Creates a service and returns how its first deploy ends. */
async function firstDeploy(fields: object): Promise<Ended> {
  const name = `broken-${++services}`
  const { status, body } = await server.api('POST', '/services', { name, ...fields })
  expect(status).toBe(201)
  const { id } = body.latest_deploy
  return { id, name, ...(await endOf(server, id)) }
}

/** The names of the steps of a deploy that failed. */
async function failedSteps({ id }: Ended): Promise<string[]> {
  const { body } = await server.api('GET', `/deploys/${id}/steps`)
  const steps = body.steps as { name: string; status: string }[]
  expect(steps.filter(({ status }) => status === 'running')).toEqual([])
  return steps.flatMap(({ name, status }) => (status === 'failed' ? [name] : []))
}

/** Checks that a failed service left nothing: no container, no checkout; and that its state is failed. */
async function expectNothingLeft(name: string): Promise<void> {
  const { body } = await server.api('GET', `/services/${name}`)
  expect(body.state).toBe('failed')
  expect(await containersOf(body.id)).toEqual([])
  expect(readdirSync(join(server.dataDirectory, 'checkouts'))).toEqual([])
}

describe('a repository that cannot be deployed ends build_failed and says why', () => {
  test.each([
    [
      'is not there',
      async () => ({
        repo_url: remote.url(await createRepository()).replace('repo-', 'none-'),
      }),
      /does not exist/,
      'Fetch the source',
    ],
    [
      'is empty',
      async () => ({ repo_url: remote.url(await createRepository()) }),
      /empty|no commit/i,
      'Fetch the source',
    ],
    [
      'has no such branch',
      async () => ({ repo_url: remote.url(await createRepository({ a: 'b' })), branch: 'nope' }),
      /nope/,
      'Fetch the source',
    ],
    [
      'has nothing that a plan knows',
      async () => ({ repo_url: remote.url(await createRepository({ 'a.txt': 'b' })) }),
      /Dockerfile|package\.json/,
      'Plan the build',
    ],
    [
      'has no Dockerfile where one is named',
      async () => ({ repo_url: remote.url(await createRepository({ a: 'b' })), runtime: 'docker' }),
      /Dockerfile/,
      'Plan the build',
    ],
    [
      'has a broken Dockerfile',
      async () => ({
        repo_url: remote.url(await createRepository({ Dockerfile: 'FROM busybox:1\nRUNN x\n' })),
      }),
      /RUNN|unknown instruction/i,
      'Prepare the build',
    ],
    [
      'has a step that fails',
      async () => ({
        repo_url: remote.url(
          await createRepository({ Dockerfile: 'FROM busybox:1\nRUN echo told && exit 3\n' }),
        ),
      }),
      /exit code: 3|exit code 3/,
      '[2/2] RUN echo told && exit 3',
    ],
    [
      'has a base image that is not there',
      async () => ({
        repo_url: remote.url(await createRepository({ Dockerfile: 'FROM no-such-image:9\n' })),
      }),
      /no-such-image/,
      '[internal] load metadata for docker.io/library/no-such-image:9',
    ],
    [
      'has no such root_dir',
      async () => ({ repo_url: remote.url(await createRepository({ a: 'b' })), root_dir: 'apps' }),
      /apps/,
      'Fetch the source',
    ],
  ])('one that %s', async (_what, fields, message, step) => {
    const deploy = await firstDeploy(await fields())
    expect(deploy.status).toBe('build_failed')
    expect(deploy.error).toMatch(message)
    expect(await failedSteps(deploy)).toEqual([step])
    await expectNothingLeft(deploy.name)
  })
})

describe('a program that does not come up ends deploy_failed and says why', () => {
  test('a missing image is named', async () => {
    const deploy = await firstDeploy({ image: 'no-such-image:9' })
    expect(deploy).toMatchObject({
      status: 'deploy_failed',
      error: expect.stringContaining('no-such-image:9'),
    })
    await expectNothingLeft(deploy.name)
  })

  test('an exit is reported with its exit code and its last lines', async () => {
    const deploy = await firstDeploy({
      image: 'busybox:1',
      start_command: 'echo cannot find the database; exit 7',
    })
    expect(deploy.status).toBe('deploy_failed')
    expect(deploy.error).toMatch(/exit code 7[\s\S]*cannot find the database/)
    await expectNothingLeft(deploy.name)
  })
})

describe('a failed deploy of a service that is live leaves the old version serving', () => {
  test('the live deploy stays', async () => {
    const page = 'mkdir -p /tmp/w && echo ok > /tmp/w/index.html && exec httpd -f -p $PORT -h /tmp/w'
    const created = await server.api('POST', '/services', {
      name: 'steady',
      image: 'busybox:1',
      start_command: page,
    })
    expect((await endOf(server, created.body.latest_deploy.id)).status).toBe('live')
    await server.api('PATCH', '/services/steady', { start_command: 'exit 1' })
    const failed = await server.api('POST', '/services/steady/deploys')
    expect((await endOf(server, failed.body.id)).status).toBe('deploy_failed')
    const { body } = await server.api('GET', '/services/steady')
    expect(body).toMatchObject({ state: 'running', live_deploy_id: created.body.latest_deploy.id })
    const rollback = await server.api('POST', '/services/steady/rollback', { deploy_id: failed.body.id })
    expect(rollback.status).toBe(409)
  })
})

describe('cancelling', () => {
  test('ends a build and the program of its step', async () => {
    const mark = `sleep ${4000 + (process.pid % 1000)}`
    const repository = await createRepository({ Dockerfile: `FROM busybox:1\nRUN ${mark}\n` })
    const { body } = await server.api('POST', '/services', {
      name: 'canceled',
      repo_url: remote.url(repository),
    })
    const isRunning = async () =>
      (await promisify(execFile)('ps', ['-eo', 'args'])).stdout
        .split('\n')
        .some((line) => line.trim() === mark)
    await waitFor(isRunning, 'the step to run')
    const canceled = await server.api('POST', `/deploys/${body.latest_deploy.id}/cancel`)
    expect(canceled).toMatchObject({ status: 200, body: { status: 'canceled' } })
    await waitFor(async () => !(await isRunning()), 'the step to end')
    expect((await server.api('GET', '/services/canceled')).body.state).toBe('not_deployed')
  })
})

describe('an uploaded archive', () => {
  async function upload(
    name: string,
    body: Uint8Array,
  ): Promise<{ status: number; body: { error?: { code: string; message: string } } }> {
    return server.api('POST', `/services/${name}/deploys/upload`, body)
  }

  function archive(
    entries: {
      name: string
      type?: 'file' | 'symlink' | 'character-device'
      linkname?: string
      content?: string
    }[],
  ): Promise<Buffer> {
    const tar = pack()
    for (const { content = '', ...header } of entries)
      tar.entry({ type: 'file', ...header }, header.type && header.type !== 'file' ? '' : content)
    tar.finalize()
    return new Promise((resolve, reject) => {
      const chunks: Buffer[] = []
      tar.on('data', (chunk) => chunks.push(chunk as Buffer))
      tar.on('end', () => resolve(gzipSync(Buffer.concat(chunks))))
      tar.on('error', reject)
    })
  }

  test('is built, started and served; a single folder at the top is left out', async () => {
    await server.api('POST', '/services', { name: 'uploaded' })
    const body = await archive([
      {
        name: 'site/Dockerfile',
        content:
          'FROM busybox:1\nCOPY index.html /www/\nCMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]\n',
      },
      { name: 'site/index.html', content: 'from an archive' },
    ])
    const deploy = (await upload('uploaded', body)) as {
      status: number
      body: { id: string; trigger: string } & object
    }
    expect(deploy).toMatchObject({ status: 202, body: { trigger: 'upload', source: { kind: 'archive' } } })
    expect(await endOf(server, deploy.body.id)).toMatchObject({ status: 'live', error: null })
    const again = await server.api('POST', '/services/uploaded/deploys')
    expect(await endOf(server, again.body.id)).toMatchObject({ status: 'live' })
  })

  test.each([
    ['nothing', async () => new Uint8Array(), /empty/i],
    ['no gzip', async () => Buffer.from('hello, this is no archive'), /gzip/i],
    ['a zip', async () => Buffer.from('504b0304140000000800', 'hex'), /zip/i],
    ['a gzip of no tar', async () => gzipSync('x'.repeat(2000)), /tar/i],
    [
      'a truncated one',
      async () => (await archive([{ name: 'a', content: 'x'.repeat(5000) }])).subarray(0, 40),
      /truncated|breaks off|incomplete|ends/i,
    ],
    ['a way out of the tree', async () => archive([{ name: '../evil', content: 'x' }]), /\.\.\/evil/],
    ['an absolute path', async () => archive([{ name: '/etc/evil', content: 'x' }]), /\/etc\/evil/],
    [
      'a link out of the tree',
      async () => archive([{ name: 'link', type: 'symlink', linkname: '../../etc/passwd' }]),
      /link/,
    ],
    ['a device', async () => archive([{ name: 'null', type: 'character-device' }]), /null/],
  ])('with %s is refused at once and nothing is kept', async (_what, make, message) => {
    await server.api('POST', '/services', { name: 'refuses' })
    const { status, body } = await upload('refuses', await make())
    expect(status).toBe(400)
    expect(body.error).toMatchObject({ code: 'invalid_request', message: expect.stringMatching(message) })
    expect((await server.api('GET', '/services/refuses/deploys')).body).toEqual([])
    expect(
      readdirSync(join(server.dataDirectory, 'archives')).filter((name) => name.endsWith('.partial')),
    ).toEqual([])
  })
})
