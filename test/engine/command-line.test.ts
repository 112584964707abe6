import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { client, linesOf, startClient, type Running } from '../cli/client.ts'
import { openCuttingProxy, type CuttingProxy } from '../support/cutting-proxy.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf } from './live.ts'

let server: TestServer
let proxy: CuttingProxy
/** The server as it is reached through the proxy. */
let place: { url: string; token: string }
/** A service whose output the tests produce. */
let printer: string
const running = new Set<Running>()

beforeAll(async () => {
  server = await startServer({ engine: true })
  printer = await createLive('printer')
})
afterAll(() => server?.stop())

beforeEach(async () => {
  proxy = await openCuttingProxy(server.url)
  place = { url: proxy.url, token: server.token }
})
afterEach(async () => {
  for (const { child } of running) child.kill('SIGKILL')
  running.clear()
  await proxy.close()
})

function start(...words: string[]): Running {
  const started = startClient(place, words)
  running.add(started)
  return started
}

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
    await waitFor(() => proxy.count > 0, 'a connection')
    // A cut every half a second, in the middle of what comes.
    const cutting = setInterval(() => proxy.cut(), 700)
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
    await waitFor(() => proxy.count > 0, 'a connection')
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
    const cutting = setInterval(() => proxy.cut(), 600)
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
    proxy.isSilent = true
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
    expect(linesOf(error).at(-1)).toBe('live')
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
