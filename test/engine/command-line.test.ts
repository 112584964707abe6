import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { checkedOut, runJob, settingsFor, variablesOf } from '../cli/ci-job.ts'
import { client, linesOf } from '../cli/client.ts'
import { ciExamples } from '../support/ci-examples.ts'
import { clientsBehindProxy } from '../support/cut-clients.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { query } from './datastore-support.ts'
import { containersOf, docker, endOf, fetchFrom } from './live.ts'

let server: TestServer
/** A service whose output the tests produce. */
let printer: string

beforeAll(async () => {
  server = await startServer({ engine: true })
  printer = await createLive('printer')
})
afterAll(() => server?.stop())

const clients = clientsBehindProxy(() => server)
const { start } = clients

async function createLive(name: string): Promise<string> {
  const fields = { name, type: 'background_worker', image: 'busybox:1', start_command: 'sleep 1000000' }
  const { status, body } = await server.api('POST', '/services', fields)
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live' })
  return body.id
}

/** Lets a service's program print what a command prints. */
async function print(id: string, command: string): Promise<void> {
  const [instance] = await containersOf(id)
  await docker('exec', instance!, 'sh', '-c', `(${command}) > /proc/1/fd/1`)
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index))
const own = (text: string) => linesOf(text).filter((line) => /^\d+$/.test(line))

describe('logs', () => {
  test('have each line once while a connection is cut again and again under a program that prints', async () => {
    await print(printer, 'echo before')
    const following = start('logs', 'printer', '-f', '-n', '0')
    await waitFor(() => clients.proxy.count > 0, 'a connection')
    // A cut every half a second, in the middle of what comes.
    const cutting = setInterval(() => clients.proxy.cut(), 700)
    try {
      for (let first = 1; first <= 20_000; first += 2_000)
        await print(printer, `seq ${first} ${first + 1_999}; sleep 0.3`)
      await waitFor(() => own(following.out).includes('20000'), 'the last line')
    } finally {
      clearInterval(cutting)
    }
    expect(own(following.out)).toEqual(numbers(1, 20_000))
    expect(following.out).not.toContain('before')
    expect(following.error).toContain('goes on')
    following.child.kill('SIGINT')
    expect((await following.ended).code).toBe(130)
  })

  test('go on after the server was killed', async () => {
    const following = start('logs', 'printer', '-f', '-n', '0')
    await waitFor(async () => {
      await print(printer, 'echo mark')
      return following.out.includes('mark')
    }, 'a line')
    const printing = print(
      printer,
      'for n in $(seq 1 3000); do echo $n; [ $((n % 300)) = 0 ] && sleep 0.5; done',
    )
    await waitFor(() => own(following.out).length > 300, 'the first lines')
    await server.kill()
    await server.restart()
    await printing
    await waitFor(() => own(following.out).includes('3000'), 'the last line')
    expect(own(following.out)).toEqual(numbers(1, 3_000))
  })

  test('end with 4 when what they are of is deleted', async () => {
    await createLive('gone')
    const following = start('logs', 'gone', '-f')
    await waitFor(() => clients.proxy.count > 0, 'a connection')
    expect((await server.api('DELETE', '/services/gone')).status).toBe(204)
    expect(await following.ended).toMatchObject({ code: 4 })
  })
})

describe('run', () => {
  test('passes words exactly, keeps the streams apart, and ends as the job does', async () => {
    const words = ['printf', '%s|', 'a  b', "it's", '$HOME', '', '*']
    expect(await client(server, 'run', 'printer', '--', ...words)).toMatchObject({
      code: 0,
      out: "a  b|it's|$HOME||*|\n",
    })
    const failed = await client(server, 'run', '-s', 'printer', '--', 'echo out; echo err >&2; exit 7')
    expect(failed).toMatchObject({ code: 7, out: 'out\n' })
    expect(linesOf(failed.error)).toContain('err')
  })

  test('has each line of a job once across cuts', async () => {
    const following = start(
      'run',
      'printer',
      '--',
      'for n in $(seq 1 5000); do echo $n; [ $((n % 500)) = 0 ] && sleep 0.3; done',
    )
    await waitFor(() => own(following.out).length > 0, 'a line')
    const cutting = setInterval(() => clients.proxy.cut(), 600)
    const { code, out } = await following.ended.finally(() => clearInterval(cutting))
    expect(code).toBe(0)
    expect(own(out)).toEqual(numbers(1, 5_000))
  })

  test('cancels the job at Ctrl-C and waits for its end; a second one leaves it to itself', async () => {
    const first = start('run', 'printer', '--', 'echo begun; sleep 1000')
    await waitFor(() => first.out.includes('begun'), 'the job')
    first.child.kill('SIGINT')
    expect((await first.ended).code).toBe(130)
    expect((await server.api('GET', '/services/printer/jobs')).body[0].status).toBe('canceled')

    const second = start('run', 'printer', '--', 'echo begun; sleep 1000')
    await waitFor(() => second.out.includes('begun'), 'the job')
    // Nothing comes through any more, so that the job's end cannot be seen.
    clients.proxy.isSilent = true
    second.child.kill('SIGINT')
    await waitFor(() => second.error.includes('Ctrl-C again'), 'the note')
    second.child.kill('SIGINT')
    const { code, error } = await second.ended
    expect(code).toBe(130)
    expect(linesOf(error).at(-1)).toMatch(/^deployer: job-\w+ goes on; deployer jobs cancel job-\w+ ends it$/)
  })

  test('can leave the job to itself from the beginning', async () => {
    const { code, out } = await client(server, 'run', 'printer', '--detach', '--', 'exit 3')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^job-\w+\n$/) })
    const followed = await client(server, 'jobs', 'logs', out.trim(), '-f')
    expect(followed).toMatchObject({ code: 1, error: expect.stringContaining('exit code 3') })
  })
})

describe('a deploy that is followed', () => {
  test('ends with the id of a service without a URL, its log on standard error', async () => {
    const { code, out, error } = await client(server, 'restart', 'printer')
    expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^dep-\w+\n$/) })
    expect(linesOf(error).slice(-2)).toEqual(['live', expect.stringMatching(/^--- Switch traffic: \d/)])
    const silent = await client(server, 'restart', 'printer', '--json')
    expect(silent).toMatchObject({ code: 0, error: '' })
    expect(JSON.parse(silent.out)).toMatchObject({ status: 'live', trigger: 'restart', url: null })
    const detached = await client(server, 'restart', 'printer', '--detach', '--json')
    expect(JSON.parse(detached.out)).toMatchObject({ status: 'queued' })
    expect(await client(server, 'deploys', 'logs', JSON.parse(detached.out).id, '-f')).toMatchObject({
      code: 0,
    })
  })

  test('goes on after Ctrl-C, and after the time of --timeout', async () => {
    await server.api('PATCH', '/services/printer', { pre_deploy_command: 'sleep 30' })
    const following = start('restart', 'printer')
    await waitFor(() => following.error !== '', 'the log')
    following.child.kill('SIGINT')
    const { code, error } = await following.ended
    const id = /dep-\w+/.exec(error)![0]
    expect(code).toBe(130)
    expect(linesOf(error).at(-1)).toBe(`deployer: ${id} goes on; deployer deploys logs ${id} -f follows it`)
    expect((await server.api('GET', `/deploys/${id}`)).body.status).toBe('deploying')
    expect((await client(server, 'deploys', 'cancel', id)).out).toBe(`${id} is canceled\n`)

    const late = await client(server, 'restart', 'printer', '--timeout', '1s', '--no-follow')
    const other = /dep-\w+/.exec(late.error)![0]
    expect(late).toMatchObject({
      code: 1,
      out: '',
      error: expect.stringContaining(`deployer deploys logs ${other} -f`),
    })
    await client(server, 'deploys', 'cancel', other)
    await server.api('PATCH', '/services/printer', { pre_deploy_command: null })
  })

  test('returns to the deploy before the live one; without a terminal only with --yes', async () => {
    expect(await client(server, 'rollback', 'printer')).toMatchObject({ code: 2, out: '' })
    const live = (await server.api('GET', '/services/printer')).body.live_deploy_id
    const { code, out } = await client(server, 'rollback', 'printer', '--yes', '--json')
    expect({ code, deploy: JSON.parse(out) }).toMatchObject({
      code: 0,
      deploy: { trigger: 'rollback', status: 'live' },
    })
    const back = await client(server, 'rollback', 'printer', '--to', live, '--yes', '-q')
    expect(back).toMatchObject({ code: 0, error: '' })
    expect(await client(server, 'rollback', 'printer', '--to', 'dep-none', '--yes')).toMatchObject({
      code: 4,
    })
  })
})

test('a job of CI deploys a folder, tries it and returns to the version before, as docs/ci.md shows', async () => {
  const { steps, scripts } = ciExamples()
  const npm = String.raw`RUN printf '#!/bin/sh\necho "ran $*"' > /bin/npm && chmod +x /bin/npm`
  const cwd = checkedOut({
    Dockerfile: `FROM busybox:1\n${npm}\nCOPY index.html /www/\nCMD exec httpd -f -p $PORT -h /www\n`,
    'index.html': 'one',
  })
  const served = () => fetchFrom(server, 'web.localhost')
  await server.api('POST', '/services', { name: 'web', deploy: false })
  const step = steps.find(({ run = '' }) => run.includes('GITHUB_OUTPUT'))!
  const env = variablesOf(step, settingsFor(server))
  const first = await runJob(step.run!, { cwd, env, hasNpx: true })
  expect(first).toMatchObject({
    code: 0,
    outputs: expect.stringMatching(/^url=http:\/\/web\.localhost\S*\n$/),
  })
  expect(await served()).toEqual({ status: 200, text: 'one' })

  writeFileSync(join(cwd, 'index.html'), 'two')
  const more = scripts.find((script) => script.includes('rollback'))!
  const [deploy, ...rest] = more.trim().split('\n')
  expect(await runJob(deploy!, { cwd, env })).toMatchObject({ code: 0 })
  expect(await served()).toEqual({ status: 200, text: 'two' })
  expect(await runJob(rest.join('\n'), { cwd, env })).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^ran run smoke-test\nhttp:\/\/web\.localhost\S*\n$/),
  })
  expect(await served()).toEqual({ status: 200, text: 'one' })
})

test(
  'a datastore is upgraded and restored in place, which is followed to its end',
  { tags: ['slow'] },
  async () => {
    const made = await client(server, 'db', 'create', 'notes', '--kind', 'postgresql', 'version=15')
    expect(made).toMatchObject({ code: 0, out: 'notes is available\n' })
    const { external_url: url } = (await server.api('GET', '/datastores/notes')).body
    await query(url, 'CREATE TABLE notes AS SELECT 1 AS id')
    const upgrading = start('db', 'upgrade', 'notes', '17')
    await waitFor(
      async () => (await server.api('GET', '/datastores/notes')).body.status === 'upgrading',
      'the upgrade',
    )
    expect(await client(server, 'db', 'upgrade', 'notes', '17')).toMatchObject({ code: 5, out: '' })
    clients.proxy.cut()
    expect(await upgrading.ended).toMatchObject({ code: 0, out: 'notes is upgraded to 17\n' })

    const { id } = JSON.parse((await client(server, 'db', 'backup', 'notes', '--json')).out)
    await query(url, 'DELETE FROM notes')
    expect(await client(server, 'db', 'restore', 'notes', id)).toMatchObject({ code: 2, out: '' })
    expect(await query(url, 'SELECT id FROM notes')).toEqual([])
    expect(await client(server, 'db', 'restore', 'notes', id, '--yes')).toMatchObject({
      code: 0,
      out: `notes is restored from ${id}\n`,
    })
    expect(await query(url, 'SELECT id FROM notes')).toEqual([[1]])
    expect(await client(server, 'db', 'delete', 'notes', '--yes')).toMatchObject({ code: 0 })
  },
)

test('a service is scaled, suspended and resumed, and its instances are listed', async () => {
  expect((await client(server, 'scale', 'printer', '2')).out).toBe('printer has 2 instances\n')
  const listed = await waitFor(async () => {
    const lines = linesOf((await client(server, 'ps', 'printer')).out)
    return lines.filter((line) => line.includes('\trunning\t')).length === 2 && lines
  }, 'two instances')
  expect(listed[0]!.split('\t')).toHaveLength(8)
  expect((await client(server, 'scale', '-s', 'printer', '1')).out).toBe('printer has 1 instance\n')
  expect((await client(server, 'suspend', 'printer')).out).toBe('printer is suspended\n')
  expect(await client(server, 'restart', 'printer')).toMatchObject({ code: 5 })
  expect(JSON.parse((await client(server, 'resume', 'printer', '--json')).out)).toMatchObject({
    suspended: false,
  })
})
