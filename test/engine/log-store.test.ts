import { afterAll, beforeAll, expect, test } from 'vitest'
import { allEvents, readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf } from './live.ts'

interface Line {
  ts: string
  stream: string
  line: string
  instance?: string
}

let server: TestServer
let service: string

beforeAll(async () => {
  server = await startServer({ engine: true })
  service = await createPrinter()
})

async function createPrinter(): Promise<string> {
  const { status, body } = await server.api('POST', '/services', {
    name: 'printer',
    image: 'busybox:1',
    type: 'background_worker',
    start_command: 'echo "begin $DEPLOYER_DEPLOY_ID"; exec sleep 1000000',
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return body.id
}

afterAll(async () => {
  await server?.stop()
})

async function read(query: string, abort?: AbortSignal, name = 'printer'): Promise<Response> {
  const response = await fetch(`${server.url}/api/v1/services/${name}/logs?${query}`, {
    headers: { authorization: `Bearer ${server.token}` },
    signal: abort,
  })
  expect(response.status).toBe(200)
  return response
}

async function lines(query = 'tail=100000'): Promise<Line[]> {
  const events = await allEvents(await read(query))
  expect(events.at(-1)?.event).toBe('end')
  return events.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data) as Line)
}

const outputOf = (all: Line[]) => all.filter(({ stream }) => stream !== 'system').map(({ line }) => line)

/** The instance that was started last: one of an earlier deploy may still be draining. */
async function instance(): Promise<string> {
  const { instances } = (await server.api('GET', '/services/printer/status')).body as {
    instances: { name: string; started_at: string }[]
  }
  return instances.toSorted((left, right) => (left.started_at < right.started_at ? 1 : -1))[0]!.name
}

async function print(command: string, stream = 1): Promise<void> {
  await docker('exec', await instance(), 'sh', '-c', `(${command}) > /proc/1/fd/${stream}`)
}

const numbers = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => String(from + index))

test('the output of earlier deploys is kept, and each deploy and instance can be read separately', async () => {
  const first = await instance()
  await print('echo of the first')
  await waitFor(async () => outputOf(await lines()).includes('of the first'), 'the first line')
  const { body } = await server.api('POST', '/services/printer/deploys')
  expect(await endOf(server, body.id)).toMatchObject({ status: 'live' })
  await print('echo of the second')
  await print('echo of its errors', 2)
  await waitFor(async () => outputOf(await lines()).includes('of its errors'), 'the second lines')
  const all = outputOf(await lines())
  expect(all.filter((line) => line.startsWith('of'))).toEqual([
    'of the first',
    'of the second',
    'of its errors',
  ])
  expect(outputOf(await lines(`deploy=${body.id}`))).toEqual([
    `begin ${body.id}`,
    'of the second',
    'of its errors',
  ])
  expect(outputOf(await lines(`instance=${first}`))).not.toContain('of the second')
  expect(outputOf(await lines(`instance=${first.slice(-5)}`))).toContain('of the first')
  expect(outputOf(await lines('stream=stderr'))).toEqual(['of its errors'])
  expect(outputOf(await lines('search=OF%20THE&tail=1'))).toEqual(['of the second'])
  expect(outputOf(await lines(`search=${encodeURIComponent('/^of (the|its) [ef]/')}`))).toEqual([
    'of the first',
    'of its errors',
  ])
  const { ts } = (await lines()).find(({ line }) => line === 'of the second')!
  expect(outputOf(await lines(`since=${ts}`))).toEqual(['of the second', 'of its errors'])
  expect(outputOf(await lines(`since=1h&until=${ts}`))).not.toContain('of the second')
})

test('a follower with a search gets only matching lines, stored and live', async () => {
  await print('echo needle 1; echo hay')
  await waitFor(async () => outputOf(await lines()).includes('hay'), 'the lines')
  for (const search of ['NEEDLE', encodeURIComponent('/needle \\d+$/')]) {
    const abort = new AbortController()
    const got: Line[] = []
    const following = (async () => {
      for await (const { event, data } of readEvents(await read(`follow&search=${search}`, abort.signal)))
        if (event === 'log') got.push(JSON.parse(data) as Line)
    })().catch(() => {})
    await waitFor(() => got.length > 0, 'the stored line')
    await print('echo hay; echo needle 2; echo hay')
    await waitFor(() => outputOf(got).at(-1) === 'needle 2', 'the live line')
    expect(outputOf(got).every((line) => line.startsWith('needle'))).toBe(true)
    abort.abort()
    await following
  }
})

test.each(['SIGKILL', 'SIGTERM'] as const)(
  'no line is missing or twice after the server ended by %s for a while in the middle of a busy log',
  async (signal) => {
    await print('rm -f /tmp/enough')
    const printing = print(
      `echo before ${signal}; n=0; while [ ! -f /tmp/enough ]; do seq $((n * 20 + 1)) $((n * 20 + 20)); n=$((n + 1)); sleep 0.01; done; echo done`,
    )
    const own = async () => {
      const all = outputOf(await lines())
      const before = all.indexOf(`before ${signal}`)
      return before < 0 ? [] : all.slice(before + 1)
    }
    await waitFor(async () => (await own()).length > 1_000, 'its first lines')
    await server.kill(signal)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    await server.restart()
    await docker('exec', await instance(), 'touch', '/tmp/enough')
    await printing
    await waitFor(async () => (await own()).at(-1) === 'done', 'the last line')
    const got = (await own()).slice(0, -1)
    expect(got).toEqual(numbers(1, got.length))
  },
)

test(
  'lines that are all the same, twenty a second on each stream, are counted right after restarts of the server',
  { tags: ['slow'] },
  async () => {
    const name = await instance()
    await docker('exec', name, 'rm', '-f', '/tmp/enough')
    const pause = 'read -t 0.05 nothing <&3'
    const printing = docker(
      'exec',
      name,
      'sh',
      '-c',
      `mkfifo /tmp/pause; exec 3<>/tmp/pause; n=0; while [ ! -f /tmp/enough ]; do echo tick > /proc/1/fd/1; echo tock > /proc/1/fd/2; n=$((n + 1)); ${pause}; done; echo $n`,
    )
    const counts = async () => {
      const got = outputOf(await lines())
      return ['tick', 'tock'].map((text) => got.filter((line) => line === text).length)
    }
    const grown = async (by: number) => {
      const before = (await counts())[0]!
      await waitFor(async () => (await counts())[0]! > before + by, 'more of them')
    }
    await grown(30)
    for (const [round, signal] of (['SIGKILL', 'SIGTERM', 'SIGKILL'] as const).entries()) {
      await server.kill(signal)
      await new Promise((resolve) => setTimeout(resolve, round * 500))
      await server.restart()
      await grown(30)
    }
    await docker('exec', name, 'touch', '/tmp/enough')
    const printed = Number(await printing)
    // What is printed after them is stored after them: a repeated line would be there by then.
    await print('echo all ticked; echo all ticked >&2')
    await waitFor(async () => outputOf(await lines('tail=2')).at(-1) === 'all ticked', 'the last line')
    expect(await counts()).toEqual([printed, printed])
  },
)

test(
  '150,000 lines printed while the server was away, and later ones, are complete',
  { tags: ['slow'] },
  async () => {
    const name = await instance()
    await docker('exec', name, 'rm', '-f', '/tmp/enough', '/tmp/pause')
    await server.kill('SIGKILL')
    const long = 'x'.repeat(80)
    const printNow = (command: string) => docker('exec', name, 'sh', '-c', `(${command}) > /proc/1/fd/1`)
    await printNow(`seq 100000 249999 | sed "s/$/ ${long}/"`)
    const printing = printNow(
      `n=250000; mkfifo /tmp/pause; exec 3<>/tmp/pause; while [ ! -f /tmp/enough ]; do echo "$n ${long}"; n=$((n + 1)); read -t 0.002 nothing <&3; done; echo all printed`,
    )
    await server.restart()
    const found = async (numbered: string) =>
      outputOf(await lines(`tail=100000&search=${encodeURIComponent(`/^${numbered} x{80}$/`)}`))
    await waitFor(async () => (await found('25\\d{4}')).length > 500, 'lines that came live')
    await docker('exec', name, 'touch', '/tmp/enough')
    await printing
    await waitFor(async () => outputOf(await lines('tail=1')).includes('all printed'), 'the last line')
    const got = [...(await found('1\\d{5}')), ...(await found('2\\d{5}'))]
    expect(got.length).toBeGreaterThan(150_500)
    expect(got.findIndex((line, index) => parseInt(line) !== 100_000 + index)).toBe(-1)
  },
)

const HALVES: [name: string, begun: string, ending: string, whole: string][] = [
  ['a character', 'na\\303', 'printf "\\257ve\\n"', 'naïve'],
]
const FURTHER_HALVES: typeof HALVES = [
  ['a line', 'short, and ', 'echo ended', 'short, and ended'],
  ['a prompt', 'a prompt: ', 'echo', 'a prompt: '],
  ['a bar of progress', '10%%\\r20%%\\r', 'printf "30%%\\r\\n"', '30%'],
]

async function isWholeAfterTheEnd(
  _name: string,
  begun: string,
  ending: string,
  whole: string,
): Promise<void> {
  const command = `for n in 1 2; do printf '${begun}' > /proc/1/fd/$n; done`
  await docker('exec', await instance(), 'sh', '-c', command)
  await server.kill('SIGKILL')
  await server.restart()
  for (const stream of [1, 2]) {
    await print(`${ending}; echo end of round`, stream)
    await waitFor(async () => outputOf(await lines('tail=1'))[0] === 'end of round', 'the end')
    expect(outputOf(await lines('tail=2'))).toEqual([whole, 'end of round'])
    await print('echo between', stream)
    await waitFor(async () => outputOf(await lines('tail=1'))[0] === 'between', 'a line')
  }
}

test.each(HALVES)(
  '%s that was half printed when the server stopped is complete on each stream',
  isWholeAfterTheEnd,
)
test.each(FURTHER_HALVES)(
  '%s that was half printed when the server stopped is complete too, on each stream',
  { tags: ['slow'] },
  isWholeAfterTheEnd,
)

test(
  'a last line without a newline is a line, also in runs that the server has not seen',
  { tags: ['slow'] },
  async () => {
    const { body } = await server.api('POST', '/services', {
      name: 'crasher',
      image: 'busybox:1',
      type: 'background_worker',
      start_command: 'echo begin; while [ ! -f /tmp/go ]; do sleep 0.2; done; printf "last words"',
    })
    expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live' })
    const runs = async () => {
      const events = await allEvents(await read('tail=1000', undefined, 'crasher'))
      return outputOf(
        events.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data) as Line),
      )
    }
    const container = (await containersOf(body.id))[0]!
    await server.kill('SIGKILL')
    await docker('exec', container, 'touch', '/tmp/go')
    for (let run = 0; run < 3; run++) {
      await docker('wait', container)
      await docker('start', container)
    }
    await server.restart()
    await waitFor(async () => (await runs()).length > 8, 'some runs')
    const got = await runs()
    expect(got).toEqual(got.map((_, index) => (index % 2 === 0 ? 'begin' : 'last words')))
    expect((await server.api('DELETE', '/services/crasher')).status).toBe(204)
  },
)

test('a line of 10 MiB and one of arbitrary bytes are cut and cleaned, and the next is complete', async () => {
  await print('head -c 10485760 /dev/zero | tr "\\0" a; echo; echo after the long one')
  await print('head -c 100000 /dev/urandom; echo; echo after the bytes')
  await waitFor(async () => outputOf(await lines()).includes('after the bytes'), 'the line after it')
  const got = outputOf(await lines())
  const long = got[got.indexOf('after the long one') - 1]!
  expect(long).toBe('a'.repeat(long.length))
  expect(long.length).toBe(16_384)
})

test.each([
  ['tail=-1', 'tail'],
  ['since=yesterday', 'since'],
  ['until=2026-13-01T00:00:00Z', 'until'],
  ['since=1m&until=2h', 'until'],
  ['follow&until=1m', 'until'],
  ['search=', 'search'],
  ['search=%2F(%2F', 'search'],
  ['search=%2F(%3F%3Dx)%2F', 'search'],
  ['search=%2F((a%7B1,100%7D)%7B1,10%7D)%7B1,10%7D%2F', 'search'],
  [`search=${'x'.repeat(501)}`, 'search'],
  ['stream=stdin', 'stream'],
  ['lines=5', 'lines'],
])('refuses %s', async (query, field) => {
  const { status, body } = await server.api('GET', `/services/printer/logs?${query}`)
  expect({ status, code: body.error.code }).toEqual({ status: 400, code: 'invalid_request' })
  expect(body.error.message).toMatch(new RegExp(`^${field}`))
})

test('a deploy of another service is not found', async () => {
  const { status } = await server.api('GET', '/services/printer/logs?deploy=dep-00000000000000000000')
  expect(status).toBe(404)
})

test('the log is removed with the service', async () => {
  expect((await server.api('DELETE', '/services/printer')).status).toBe(204)
  expect((await server.api('GET', `/services/${service}/logs`)).status).toBe(404)
})
