import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { array, assert, asyncProperty, property, subarray, type Arbitrary } from 'fast-check'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { COMPLETE, Head, dropNamedLines } from '../../../proxy/http1/head.ts'
import { parseRequestHead } from '../../../proxy/http1/request-head.ts'
import { HOST, ProxyStand, RawUpstream, tableOf, targetOf } from '../stand.ts'
import { get } from '../smuggling/cases.ts'
import { Witness } from '../smuggling/witness.ts'
import { piecesOf } from './agreement.ts'
import { answer, cuts, request, type Field, type Sample } from './arbitraries.ts'
import { SEED } from './fuzz.ts'
import { readAnswer, readRequests } from './relay-reader.ts'

const RUNS = 400
/** Each waits for a few reads of its own. */
const RUNS_OVER_THE_WIRE = 60
/** So that pieces arrive as separate reads. */
const BETWEEN_PIECES_MS = 2
const OTHER_HOST = 'raw.test'

let stand: ProxyStand
let witness: Witness
let upstream: RawUpstream
let answering: (socket: Socket) => Promise<void>

beforeAll(async () => {
  witness = await Witness.start()
  upstream = await RawUpstream.start((socket, _piece, all) => {
    if (!all.includes('\r\n\r\n')) return false
    void answering(socket)
    return true
  })
  const targets = { app: targetOf([witness.spec]), raw: targetOf([upstream.spec], 'serving', 'srv-raw') }
  stand = await ProxyStand.start(tableOf([], { targets, hosts: { [HOST]: 'app', [OTHER_HOST]: 'raw' } }))
})
afterAll(async () => {
  await stand.stop()
  witness.close()
  upstream.close()
})
beforeEach(() => witness.forget())

async function sendInPieces(socket: Socket, pieces: readonly Buffer[]): Promise<void> {
  socket.setNoDelay()
  for (const piece of pieces) {
    socket.write(piece)
    await sleep(BETWEEN_PIECES_MS)
  }
}

/** Bytes of samples one after the other, and places to cut them at. */
function cutUp(samples: Arbitrary<Sample[]>): Arbitrary<[Sample[], Buffer, number[]]> {
  return samples.chain((some) => {
    const bytes = Buffer.from(some.map((sample) => sample.bytes).join(''), 'latin1')
    return cuts(bytes.length).map((places): [Sample[], Buffer, number[]] => [some, bytes, places])
  })
}

const linesOf = (fields: readonly Field[]) => fields.map(([name, value]) => `${name}: ${value}\r\n`).join('')

test('requests are read as they were meant, however they are cut into reads', () => {
  assert(
    property(cutUp(array(request, { minLength: 1, maxLength: 3 })), ([samples, bytes, places]) => {
      const { messages, fault } = readRequests(bytes, places)
      expect(fault).toBeNull()
      expect(messages.map(({ start, fields, body }) => ({ start, fields, body }))).toEqual(
        samples.map(({ start, fields, body }) => ({ start, fields, body })),
      )
      expect(messages.map(({ forwarded }) => forwarded)).toEqual(
        samples.map(({ start, fields, framed }) => `${start} HTTP/1.1\r\n${linesOf(fields)}\r\n${framed}`),
      )
    }),
    { numRuns: RUNS, seed: SEED },
  )
})

test('answers are read as they were meant, however they are cut into reads', () => {
  assert(
    property(cutUp(array(answer, { minLength: 1, maxLength: 1 })), ([[sample], bytes, places]) => {
      const { messages, fault } = readAnswer('GET', bytes, places)
      expect(fault).toBeNull()
      const { start, fields, framed, body } = sample!
      expect(messages).toHaveLength(1)
      expect(messages[0]).toMatchObject({ fields, body, complete: true })
      expect(messages[0]!.forwarded).toBe(`HTTP/1.1 ${start}\r\n${linesOf(fields)}\r\n${framed}`)
    }),
    { numRuns: RUNS, seed: SEED },
  )
})

test('lines are removed from a head by their names, and the positions of the others are known', () => {
  const named = request.chain((sample) =>
    subarray(sample.fields.map(([name]) => name.toLowerCase())).map((names) => ({ sample, names })),
  )
  assert(
    property(named, ({ sample, names }) => {
      const input = Buffer.from(sample.bytes, 'latin1')
      const output = Buffer.alloc(input.length + 1024)
      const head = new Head()
      expect(parseRequestHead(input, 0, input.length, output, 0, head)).toBe(COMPLETE)
      dropNamedLines(output, head, names)
      const kept = sample.fields.filter(([name]) => !names.includes(name.toLowerCase()))
      expect(output.toString('latin1', 0, head.outputEnd)).toBe(
        `${sample.start} HTTP/1.1\r\n${linesOf(kept)}`,
      )
      const places = kept.map((_, line) =>
        output.toString('latin1', head.lineStarts[line], head.nameEnds[line]),
      )
      expect(places).toEqual(kept.map(([name]) => name))
      expect(head.lines).toBe(kept.length)
    }),
    { numRuns: RUNS, seed: SEED },
  )
})

test('requests reach the upstream as they were meant, in whatever pieces they are sent', async () => {
  await assert(
    asyncProperty(cutUp(array(request, { minLength: 1, maxLength: 3 })), async ([samples, bytes, places]) => {
      witness.forget()
      const client = stand.raw()
      await sendInPieces(client.socket, piecesOf(bytes, places))
      client.send(get('Connection: close'))
      await client.end()
      const expected = samples.map(({ start, body }) => [start, body])
      expect(witness.read).toEqual([...expected, ['GET /', '']])
      for (const [index, { fields }] of samples.entries()) {
        expect(witness.fields[index]!.slice(0, fields.length)).toEqual(fields)
      }
    }),
    { numRuns: RUNS_OVER_THE_WIRE, seed: SEED },
  )
})

test('answers reach the client as they were sent, in whatever pieces', async () => {
  await assert(
    asyncProperty(cutUp(array(answer, { minLength: 1, maxLength: 3 })), async ([samples, _bytes, places]) => {
      const client = stand.raw()
      let expected = ''
      for (const { start, fields, framed, bytes } of samples) {
        const whole = Buffer.from(bytes, 'latin1')
        const own = places.filter((place) => place < whole.length)
        answering = (socket) => sendInPieces(socket, piecesOf(whole, own))
        client.request('GET / HTTP/1.1', `Host: ${OTHER_HOST}`, 'X-Request-Id: one')
        expected += `HTTP/1.1 ${start}\r\n${linesOf(fields)}X-Request-Id: one\r\n\r\n${framed}`
        const length = expected.length
        await expect.poll(() => client.received.length, { interval: 2 }).toBeGreaterThanOrEqual(length)
        expect(client.received).toBe(expected)
      }
      client.close()
    }),
    { numRuns: RUNS_OVER_THE_WIRE, seed: SEED },
  )
})
