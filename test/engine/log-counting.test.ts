import { afterAll, beforeAll, expect, test } from 'vitest'
import { setTimeout as delay } from 'node:timers/promises'
import { allEvents, readEvents } from '../support/sse.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { containersOf, docker, endOf } from './live.ts'

const SLOW_MS = 120_000
/** Each so many lines of one text there is a line with a number. */
const BETWEEN = 50

interface Line {
  stream: string
  line: string
}

let server: TestServer
let container: string

beforeAll(async () => {
  server = await startServer({ engine: true })
  container = await createPrinter()
})

async function createPrinter(): Promise<string> {
  const { status, body } = await server.api('POST', '/services', {
    name: 'same',
    image: 'busybox:1',
    type: 'background_worker',
    start_command: 'sleep 1000000',
  })
  expect({ status, body }).toMatchObject({ status: 201 })
  expect(await endOf(server, body.latest_deploy.id)).toMatchObject({ status: 'live', error: null })
  return (await containersOf(body.id))[0]!
}

afterAll(async () => {
  await server?.stop()
})

async function read(query: string, signal?: AbortSignal): Promise<Response> {
  const headers = { authorization: `Bearer ${server.token}` }
  const response = await fetch(`${server.url}/api/v1/services/same/logs?${query}`, { headers, signal })
  expect(response.status).toBe(200)
  return response
}

async function stored(): Promise<Line[]> {
  const events = await allEvents(await read('tail=100000'))
  return events.filter(({ event }) => event === 'log').map(({ data }) => JSON.parse(data) as Line)
}

/** What a follower has got who came while the server caught up. */
async function follow(): Promise<{ lines: Line[]; close: () => void }> {
  const abort = new AbortController()
  const lines: Line[] = []
  const response = await read('tail=100000&follow', abort.signal)
  const reading = async () => {
    for await (const { event, data } of readEvents(response))
      if (event === 'log') lines.push(JSON.parse(data) as Line)
  }
  void reading().catch(() => {})
  return { lines, close: () => abort.abort() }
}

/** Lets the program print, on both streams, rounds of lines of one text and a number, with a pause after each round. */
function print(name: string, rounds: number, pause: string, head = 'yes'): Promise<string> {
  const each = `${head} "${name}" | head -n ${BETWEEN}; echo "${name} $n"`
  return docker(
    'exec',
    container,
    'sh',
    '-c',
    `n=0; while [ $n -lt ${rounds} ]; do n=$((n + 1)); (${each}) > /proc/1/fd/1; (${each}) > /proc/1/fd/2; ${pause}; done`,
  )
}

/** What the lines of one printing are told by: how many of one text stand before each number, of a stream. */
function between(lines: Line[], stream: string, name: string): string[] {
  const told: string[] = []
  let count = 0
  for (const { line } of lines.filter((each) => each.stream === stream && each.line.startsWith(name))) {
    if (line === name) count++
    else {
      told.push(`${count} before ${line.slice(name.length + 1)}`)
      count = 0
    }
  }
  return count === 0 ? told : [...told, `${count} at the end`]
}

const expected = (rounds: number) =>
  Array.from({ length: rounds }, (_, index) => `${BETWEEN} before ${index + 1}`)

test.each([
  ['a hundred at once, then a pause', 'bursts', 200, 'usleep 40000'],
  ['without a pause', 'dense', 600, ':'],
])(
  'lines of one text are stored once each when the server is killed again and again, %s',
  async (_how, name, rounds, pause) => {
    let isPrinting = true
    const printing = print(name, rounds, pause).finally(() => (isPrinting = false))
    let follower: Awaited<ReturnType<typeof follow>> | null = null
    for (let kills = 0; isPrinting || kills < 2; kills++) {
      await delay(Math.random() * 1_500)
      await server.kill('SIGKILL')
      await delay(Math.random() * 1_000)
      await server.restart()
      follower = await follow()
    }
    await printing
    const last = `${name} ${rounds}`
    for (const stream of ['stdout', 'stderr'])
      await waitFor(
        () => follower!.lines.some((each) => each.stream === stream && each.line === last),
        'the last line',
        SLOW_MS,
      )
    follower!.close()
    const kept = await stored()
    for (const stream of ['stdout', 'stderr']) {
      expect(between(kept, stream, name)).toEqual(expected(rounds))
      expect(between(follower!.lines, stream, name)).toEqual(expected(rounds))
    }
  },
)
