import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { runs } from '../support/runs.ts'
import { startServer, type TestServer } from '../support/server.ts'
import { waitFor } from '../support/wait.ts'
import { Wire } from '../support/wire.ts'

/** Far longer than sixteen answers take, on any machine. */
const HANG_MS = 30_000
/** Sequences that are sent at the same time. */
const AT_ONCE = 24
const RUNS = runs(30)
/** What a system accepts from a program in one piece. */
const SENT_AT_ONCE_BYTES = 60_000
/** After this, no shorter example of a failure is looked for; less than a test may take. */
const SHRINK_MS = 50_000

let server: TestServer
let bearer: string
let etag: string
let asset: string
beforeAll(async () => {
  server = await startServer()
  bearer = `Authorization: Bearer ${server.token}`
  const page = await fetch(server.url)
  etag = page.headers.get('etag')!
  asset = /\/assets\/index-[\w.-]+\.js/.exec(await page.text())![0]
})
afterAll(() => server.stop())

/** What a request asks, and which statuses may answer it. */
interface Kind {
  head: () => string[]
  statuses: readonly number[]
  /** Its answer may be the last one of its connection. */
  mayEnd?: true
  /** Its answer has more than a few kilobytes. */
  isLong?: true
  /** Its body is a new env group; otherwise it is bytes that mean nothing. */
  makes?: true
}

/** Without a body. */
const PLAIN: Record<string, Kind> = {
  text: { head: () => ['GET /healthz'], statuses: [200] },
  head: { head: () => ['HEAD /'], statuses: [200] },
  known: { head: () => ['GET /', `If-None-Match: ${etag}`], statuses: [304] },
  file: { head: () => [`GET ${asset}`, 'Accept-Encoding: br'], statuses: [200], isLong: true },
  list: { head: () => ['GET /api/v1/services', bearer], statuses: [200] },
  unknown: { head: () => ['GET /api/v1/services'], statuses: [401] },
  options: { head: () => ['OPTIONS /'], statuses: [405] },
  upgrade: {
    head: () => ['GET /healthz', 'Connection: upgrade', 'Upgrade: websocket'],
    statuses: [200],
    mayEnd: true,
  },
  expecting: { head: () => ['GET /healthz', 'Expect: a miracle'], statuses: [417], mayEnd: true },
}

/** With one; none starts a program, since a slow machine starts few. */
const SENDING: Record<string, Kind> = {
  group: { head: () => ['POST /api/v1/env-groups', bearer], statuses: [201], makes: true },
  'invited group': {
    head: () => ['POST /api/v1/env-groups', bearer, 'Expect: 100-continue'],
    statuses: [201],
    makes: true,
  },
  nowhere: { head: () => ['GET /api/none'], statuses: [404], mayEnd: true },
  'from a stranger': { head: () => ['POST /api/v1/env-groups'], statuses: [401], mayEnd: true },
  'no group': { head: () => ['POST /api/v1/env-groups', bearer], statuses: [400], mayEnd: true },
  'sign-in': { head: () => ['POST /api/v1/auth/login'], statuses: [400, 429], mayEnd: true },
}

const KINDS = { ...PLAIN, ...SENDING }

const asked = fc.oneof(
  fc.record({ kind: fc.constantFrom(...Object.keys(PLAIN)) }),
  fc.record({
    kind: fc.constantFrom(...Object.keys(SENDING)),
    // Around the sizes at which Node stops reading ahead.
    size: fc.oneof(fc.constantFrom(0, 10, 60_000, 65_536, 131_072, 140_000), fc.nat(300_000)),
    isChunked: fc.boolean(),
  }),
)
type Asked = typeof asked extends fc.Arbitrary<infer Value> ? Value : never

const sequence = fc.record({
  requests: fc.oneof(
    fc.array(asked, { minLength: 1, maxLength: 14 }),
    // With few kinds, the same and other kinds meet more often.
    fc
      .tuple(asked, asked)
      .chain((pair) => fc.array(fc.constantFrom(...pair), { minLength: 2, maxLength: 14 })),
  ),
  /** Whether each waits for the previous answer. */
  isPatient: fc.boolean(),
  /** Where what is sent ahead is cut, as a fraction of it. */
  cuts: fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 4 }),
  /** After how many of its pieces the client leaves. */
  leavesAfter: fc.option(fc.nat(3), { freq: 10 }),
})
type Sequence = typeof sequence extends fc.Arbitrary<infer Value> ? Value : never

/** A request as it is sent. */
interface Message extends Kind {
  text: string
  group: string | null
}

let groups = 0

function messageOf(request: Asked): Message {
  const kind = KINDS[request.kind]!
  const group = kind.makes ? `group-${++groups}` : null
  const { lines, body } = 'size' in request ? bodyOf(request, group) : { lines: [], body: '' }
  const [line, ...fields] = kind.head()
  const head = [`${line} HTTP/1.1`, 'Host: localhost', ...fields, ...lines]
  return { ...kind, group, text: `${head.join('\r\n')}\r\n\r\n${body}` }
}

function bodyOf({ size, isChunked }: { size: number; isChunked: boolean }, group: string | null) {
  const bytes = group === null ? 'x'.repeat(size) : JSON.stringify({ name: group })
  if (!isChunked) return { lines: [`Content-Length: ${bytes.length}`], body: bytes }
  const chunks = [...(bytes.match(/.{1,30000}/g) ?? []), '']
  const body = chunks.map((chunk) => `${chunk.length.toString(16)}\r\n${chunk}\r\n`).join('')
  return { lines: ['Transfer-Encoding: chunked'], body }
}

interface Answer {
  status: number
  isLast: boolean
}

/** The answers that have arrived completely. */
function answersIn(received: string, messages: readonly Message[]): Answer[] {
  const answers: Answer[] = []
  for (let at = 0, end; (end = received.indexOf('\r\n\r\n', at)) !== -1;) {
    const head = received.slice(at, end)
    at = end + 4
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(head)?.[1])
    if (status === 100) continue
    if (!Number.isInteger(status)) throw new Error(`no answer: ${head.slice(0, 200)}`)
    const hasBody = status !== 304 && !messages[answers.length]?.text.startsWith('HEAD')
    if (hasBody) at += Number(/^content-length: (\d+)/im.exec(head)![1])
    if (at > received.length) break
    answers.push({ status, isLast: /^connection: close/im.test(head) })
  }
  return answers
}

/** Which groups a sequence created: all of those whose answer came, none of those behind the last answer. */
interface Outcome {
  made: string[]
  notMade: string[]
}

/** Sends a sequence over its own connection, and reads the answers. */
async function play({ requests, isPatient, cuts, leavesAfter }: Sequence): Promise<Outcome> {
  const messages = requests.map(messageOf)
  using wire = await Wire.open(server.url)
  const answers = () => answersIn(wire.received, messages)
  const hasEnded = () => wire.closed || answers().at(-1)?.isLast === true
  const limit = AbortSignal.timeout(HANG_MS)
  const answered = async (count: number) => {
    while (answers().length < count && !hasEnded()) await oneOf(wire.socket, ['data', 'close'], limit)
  }
  const texts = messages.map(({ text }) => text)
  const pieces = isPatient ? texts : cut(texts.join(''), cuts)
  for (const [at, piece] of pieces.entries()) {
    if (at === leavesAfter) return { made: [], notMade: [] }
    if (hasEnded()) break
    wire.socket.write(piece)
    await (isPatient ? answered(at + 1) : delay(1))
  }
  await answered(messages.length)
  const came = answers()
  expect(came.length).toBeLessThanOrEqual(messages.length)
  for (const [at, { status }] of came.entries()) expect(messages[at]!.statuses).toContain(status)
  // A client that sends more after the last answer may be cut off before it reads it; earlier requests are handled.
  const firstEnd = messages.findIndex(({ mayEnd }) => mayEnd)
  const certain = firstEnd === -1 ? messages.length : firstEnd
  const wasToldTheEnd = came.at(-1)?.isLast === true
  const mayBeCutOff = !isPatient && firstEnd !== -1
  expect(came.length === messages.length || wasToldTheEnd || mayBeCutOff).toBe(true)
  // A client that still writes at the end may lose what it has not read, and so may one that has much to read.
  const isSentAtOnce = pieces.length === 1 && pieces[0]!.length < SENT_AT_ONCE_BYTES
  if (isSentAtOnce && !messages.some(({ isLong }) => isLong))
    expect(came.length).toBeGreaterThanOrEqual(certain)
  const groupsOf = (of: readonly Message[]) => of.flatMap(({ group }) => group ?? [])
  return {
    made: groupsOf(messages.slice(0, Math.max(came.length, certain))),
    notMade: wasToldTheEnd ? groupsOf(messages.slice(came.length)) : [],
  }
}

async function oneOf(socket: Socket, events: readonly string[], limit: AbortSignal): Promise<void> {
  const done = new AbortController()
  const signal = AbortSignal.any([limit, done.signal])
  await Promise.race(events.map((event) => once(socket, event, { signal }))).finally(() => done.abort())
}

function cut(bytes: string, cuts: readonly number[]): string[] {
  const places = cuts.map((share) => Math.floor(share * bytes.length)).toSorted((a, b) => a - b)
  return [...places, bytes.length].map((end, at) => bytes.slice(places[at - 1] ?? 0, end))
}

async function groupNames(): Promise<Set<string>> {
  const { body } = await server.api('GET', '/env-groups')
  return new Set((body as { name: string }[]).map(({ name }) => name))
}

describe('requests over one connection', () => {
  it('are each handled once and answered in order, whatever they are and in whatever pieces they come', async () => {
    const batch = fc.array(sequence, { minLength: AT_ONCE, maxLength: AT_ONCE })
    const made: string[] = []
    const notMade: string[] = []
    await fc.assert(
      fc.asyncProperty(batch, async (sequences) => {
        for (const outcome of await Promise.all(sequences.map(play))) {
          made.push(...outcome.made)
          notMade.push(...outcome.notMade)
        }
      }),
      { numRuns: RUNS, plugins: [fc.interruptAfterTimeLimit(SHRINK_MS)] },
    )
    const names = await groupNames()
    expect(made.filter((name) => !names.has(name))).toEqual([])
    expect(notMade.filter((name) => names.has(name))).toEqual([])
    expect(made.length).toBeGreaterThan(RUNS)
  })

  it('end with one that asks for another protocol', async () => {
    using wire = await Wire.open(server.url)
    const asking = ['GET /healthz HTTP/1.1', 'Host: localhost', 'Connection: upgrade', 'Upgrade: h2c']
    expect(await wire.send(asking).end()).toMatch(/^HTTP\/1\.1 200 [^]*connection: close[^]*ok$/i)
  })

  it('wait behind a stream, and are not handled if their client has left', async () => {
    const wire = await Wire.open(server.url)
    const { text, group } = messageOf({ kind: 'group', size: 0, isChunked: false })
    wire.send(['GET /api/v1/events HTTP/1.1', 'Host: localhost', bearer]).socket.write(text)
    await waitFor(() => wire.received.includes('event: ready'), 'the stream')
    await server.api('POST', '/env-groups', { name: 'beside-the-stream' })
    await waitFor(() => wire.received.includes('env_group'), 'the change')
    wire.socket.destroy()
    await waitFor(() => wire.closed, 'its end')
    expect(await groupNames()).not.toContain(group)
  })
})
