import { createHash } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRepository, startGitHttp, type GitRemote } from '../stand/git.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

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

const MARKER = 'marker-of-a-secret-file'
const FIRST = Buffer.from(`\0\r\n${MARKER}\xff\0`, 'latin1')
const SECOND = Buffer.from([0, 1, 2, 255])
/** As large as it may be next to the others. */
const LARGE = Buffer.alloc(1024 * 1024 - 2 * FIRST.length, '\0large\n')

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')
/** What `sha256sum` and `stat` say of a file. */
const saying = (path: string): string =>
  `echo "$(sha256sum < ${path} | cut -d' ' -f1) $(stat -c '%a %u:%g' ${path})"`

/** Serves what its build and its program found. */
const SOURCE = {
  Dockerfile: `FROM busybox:1
RUN echo app:x:1234:1234::/:/bin/sh >> /etc/passwd && mkdir /www /app && chown app /www && ln -s /app /linked
RUN --mount=type=secret,id=key.p12,required=true --mount=type=secret,id=large,required=true \\
  cat /run/secrets/key.p12 /run/secrets/large | sha256sum > /www/built
COPY run /run.sh
USER app
CMD ["/run.sh"]
`,
  run: {
    mode: 0o755,
    content: `#!/bin/sh
{ ${saying('/etc/secrets/key.p12')}; ${saying('/app/conf/app.json')}; } > /www/index.html
exec httpd -f -p $PORT -h /www
`,
  },
}

async function put(path: string, content: Buffer, more: object = {}): Promise<void> {
  const body = { content_base64: content.toString('base64'), ...more }
  expect(await server.api('PUT', path, body)).toMatchObject({ status: 200 })
}

async function ended(answer: { status: number; body: { id: string } }): Promise<void> {
  expect(await endOf(server, answer.body.id)).toMatchObject({ status: 'live', error: null })
}

async function logOf(path: string): Promise<string> {
  const headers = { authorization: `Bearer ${server.token}` }
  return (await fetch(`${server.url}/api/v1${path}`, { headers })).text()
}

const served = async (path = '/'): Promise<string> =>
  (await fetchFrom(server, 'web.localhost', path)).text.trim()

test('secret files reach builds, pre-deploy commands, instances and jobs byte for byte, and a rollback has the old ones', async () => {
  const repository = await createRepository(SOURCE)
  await server.api('POST', '/env-groups', { name: 'shared' })
  await put('/env-groups/shared/secret-files/app.json', FIRST, {
    path: '/linked/conf/app.json',
    mode: '0440',
  })
  const { body: service } = await server.api('POST', '/services', {
    ...{ name: 'web', repo_url: remote.url(repository), env_groups: ['shared'], deploy: false },
    pre_deploy_command: saying('/etc/secrets/key.p12'),
  })
  await put('/services/web/secret-files/key.p12', FIRST)
  await put('/services/web/secret-files/large', LARGE)
  const first = await server.api('POST', '/services/web/deploys')
  await ended(first)
  expect(await served('/built')).toBe(`${sha256(Buffer.concat([FIRST, LARGE]))}  -`)
  const one = `${sha256(FIRST)} 400 1234:1234`
  const shared = `${sha256(FIRST)} 440 1234:1234`
  expect(await served()).toBe(`${one}\n${shared}`)
  expect(await logOf(`/deploys/${first.body.id}/logs`)).toContain(one)

  const [container] = await containersOf(service.id)
  const inspected = await docker('inspect', container!)
  for (const text of [MARKER, FIRST.toString('base64').slice(0, 20)]) expect(inspected).not.toContain(text)
  const image = (JSON.parse(inspected) as { Image: string }[])[0]!.Image
  expect(await docker('run', '--rm', '--entrypoint', 'ls', image, '/etc')).not.toContain('secrets')
  // What the server starts again is the same container.
  await docker('kill', container!)
  await waitFor(
    async () => (await served().catch(() => '')) === `${one}\n${shared}` || null,
    'the program to be back',
  )

  await put('/services/web/secret-files/key.p12', SECOND, { mode: '0600' })
  const two = `${sha256(SECOND)} 600 1234:1234`
  const { body: job } = await server.api('POST', '/services/web/jobs', {
    command: saying('/etc/secrets/key.p12'),
  })
  await waitFor(
    async () => (await server.api('GET', `/jobs/${job.id}`)).body.status === 'succeeded' || null,
    'the job to end',
  )
  expect(await logOf(`/jobs/${job.id}/logs`)).toContain(two)
  expect(await served()).toBe(`${one}\n${shared}`)
  expect((await server.api('DELETE', '/env-groups/shared/secret-files/app.json?restart')).status).toBe(204)
  const [restart] = (await server.api('GET', '/services/web/deploys')).body
  expect(restart.trigger).toBe('restart')
  await ended({ status: 200, body: restart })
  expect((await served()).split('\n')[0]).toBe(two)
  expect(await served()).not.toContain(shared)

  await ended(await server.api('POST', '/services/web/rollback', { deploy_id: first.body.id }))
  expect(await served()).toBe(`${one}\n${shared}`)
})

test('a file in the place of a folder of the image fails the deploy, which says so', async () => {
  await server.api('POST', '/services', { name: 'wrong', image: 'busybox:1', deploy: false })
  await put('/services/wrong/secret-files/a', SECOND, { path: '/tmp' })
  const { body } = await server.api('POST', '/services/wrong/deploys')
  const end = await endOf(server, body.id)
  expect(end.status).toBe('deploy_failed')
  expect(end.error).toMatch(/secret files cannot be put into the container: .*tmp/)
})
