import { expect, test, vi } from 'vitest'
// First, since it has read buffers overwritten after use.
import { OwnRelay } from '../own-relay.ts'
import { ERROR, FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { GET, RawHttp2, data, frame, headers, number, settings, type Fields } from '../http2/raw-client.ts'
import { closing } from '../lifetimes.ts'
import { secureConnection, secureTable } from '../secure.ts'
import { RawUpstream, waitFor } from '../stand.ts'
import { FUZZ_TIMEOUT_MS, SEED } from './fuzz.ts'
import { Random } from './random.ts'

const SECONDS = Number(process.env.DEPLOYER_FUZZ_SECONDS ?? 3)
/** A slow machine takes longer than the time for so many. */
const FEWEST_CASES = 20
const MOST_STEPS = 12
const MINUTE_MS = 60_000
/** What is asked when everything is over. */
const LAST = /GET (\/last-\d+) HTTP\/1\.1\r\n/

type Socket = RawUpstream['sockets'][number]

const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
/** What a service says, in any order. */
const SAID = [
  'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nbody',
  'HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n',
  `HTTP/1.1 200 OK\r\n${CHUNKED}`,
  'HTTP/1.1 200 OK\r\n\r\n',
  'HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok',
  'HTTP/1.1 204 No Content\r\n\r\n',
  'HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n',
  'HTTP/1.1 413 Content Too Large\r\nContent-Length: 0\r\n\r\n',
  'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\n',
  'HTTP/1.1 100 Continue\r\n\r\n',
  'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n',
  '4\r\nbody\r\n',
  '4;a=b\r\nbo',
  '0\r\n\r\n',
  '0\r\nX-Sum: 1\r\n\r\n',
  'x'.repeat(100_000),
  'nonsense',
  '\r\n',
]

/** Answers under way: what comes after one of them would be taken for the next. */
let misbehaving = 0

/** Makes a service do one thing after another, a moment apart. */
function misbehave(socket: Socket, random: Random): void {
  let left = random.below(8)
  misbehaving++
  const next = () => {
    const choice = random.below(20)
    if (left-- <= 0 || socket.destroyed) {
      socket.resume()
      return void misbehaving--
    }
    if (choice === 0) socket.end()
    else if (choice === 1) socket.resetAndDestroy()
    else if (choice === 2) socket.pause()
    else if (choice === 3) socket.resume()
    else if (socket.writable) socket.write(random.one(SAID))
    if (random.below(2) === 0) setTimeout(next, random.below(3))
    else next()
  }
  next()
}

const requestOf = (random: Random, path: string): Fields => {
  const method = random.one(['GET', 'HEAD', 'POST', 'PUT', 'CONNECT'])
  const more: Fields = method === 'CONNECT' ? [[':protocol', 'websocket']] : []
  const lengths: Fields = random.below(3) === 0 ? [['content-length', random.one(['0', '4', '20'])]] : []
  const expects: Fields = random.below(4) === 0 ? [['expect', '100-continue']] : []
  const others = GET.slice(1).map(([name, value]) => [name, name === ':path' ? path : value] as const)
  return [[':method', method], ...more, ...others, ...lengths, ...expects]
}

/** One thing that a client does with a stream. */
function step(random: Random, client: RawHttp2, id: number): Buffer {
  switch (random.below(10)) {
    case 0:
      return data(id, 'body', random.below(2) === 0)
    case 1:
      return data(id, Buffer.alloc(random.below(16_000)), random.below(4) === 0)
    case 2:
      return frame(FRAME.data, FLAG.padded | random.below(2), id, '\x03\0\0\0')
    case 3:
      return frame(FRAME.reset, 0, id, number(random.one([ERROR.cancel, ERROR.none])))
    case 4:
      return headers(id, [['x-last', 'a']])
    case 5:
      return frame(FRAME.windowUpdate, 0, random.one([0, id]), number(random.one([1, 300, 100_000])))
    case 6:
      return settings([SETTING.initialWindowSize, random.one([0, 1, 5, 70_000, 1_000_000])])
    case 7:
      return settings([SETTING.headerTableSize, random.one([0, 60, 4_096])])
    case 8:
      return frame(
        FRAME.priorityUpdate,
        0,
        0,
        Buffer.concat([number(id), Buffer.from(`u=${random.below(8)}`)]),
      )
    default:
      if (random.below(3) === 0) client.pause()
      else client.resume()
      return Buffer.alloc(0)
  }
}

async function session(random: Random, port: number, name: number): Promise<void> {
  const client = await RawHttp2.to(port)
  let newest = -1
  for (let left = random.below(MOST_STEPS); left >= 0; left--) {
    if (newest < 0 || random.below(3) === 0) {
      newest += 2
      client.send(headers(newest, requestOf(random, `/${name}`), random.below(2) === 0))
    } else client.send(step(random, client, random.below((newest + 1) / 2) * 2 + 1))
    if (random.below(3) === 0) await new Promise((resolve) => setTimeout(resolve, random.below(4)))
  }
  client.close()
}

/** What an HTTP/1.1 client says, in any order: little enough to be read completely, so that its leaving is seen. */
const ASKED = [
  'GET {} HTTP/1.1\r\nHost: app.test\r\n\r\n',
  'HEAD {} HTTP/1.1\r\nHost: app.test\r\nTE: trailers\r\n\r\n',
  'GET {} HTTP/1.0\r\nHost: app.test\r\n\r\n',
  'GET {} HTTP/1.1\r\nHost: app.test\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n',
  'POST {} HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n\r\n',
  'POST {} HTTP/1.1\r\nHost: app.test\r\nContent-Length: 4\r\n\r\nbody',
  'PUT {} HTTP/1.1\r\nHost: app.test\r\nTransfer-Encoding: chunked\r\nExpect: 100-continue\r\n\r\n',
  'body',
  '4\r\nbody\r\n',
  '0\r\n\r\n',
  '0\r\nX-Sum: 1\r\n\r\n',
  'x'.repeat(3_000),
]

async function plainSession(random: Random, port: number, name: number): Promise<void> {
  const socket = await secureConnection(port, { allowHalfOpen: true } as object)
  socket.on('end', () => socket.end()).resume()
  for (let left = random.below(MOST_STEPS); left >= 0; left--) {
    const choice = random.below(20)
    if (choice === 0) socket.end()
    else if (choice === 1) socket.pause()
    else if (choice === 2) socket.resume()
    else if (socket.writable) socket.write(random.one(ASKED).replace('{}', `/${name}`))
    if (random.below(3) === 0) await new Promise((resolve) => setTimeout(resolve, random.below(4)))
  }
  socket.destroy()
}

test(
  'whatever services and clients do, nothing of it stays and the next request gets its own answer',
  { timeout: FUZZ_TIMEOUT_MS },
  async () => {
    const random = new Random(SEED)
    const upstream = closing(
      await RawUpstream.start((socket, _piece, all) => {
        if (!/ HTTP\/1\.1\r\n[^]*\r\n\r\n/.test(all)) return
        const path = LAST.exec(all)?.[1]
        if (path) socket.write(`HTTP/1.1 200 OK\r\nContent-Length: ${path.length}\r\n\r\n${path}`)
        else misbehave(socket, random)
        return true
      }),
    )
    const own = await OwnRelay.start(secureTable([upstream.spec]))
    const faults = vi.spyOn(process.stderr, 'write')
    const end = performance.now() + SECONDS * 1000
    let cases = 0
    for (; performance.now() < end || cases < FEWEST_CASES; cases++) {
      const sessions = Array.from({ length: 6 }, (_, index) =>
        random.one([session, plainSession])(random, own.portOf('https'), cases * 6 + index),
      )
      await Promise.all(sessions)
      await new Promise((resolve) => setTimeout(resolve, 20))
      // A client that has closed one half may still get an answer.
      await own.pass(MINUTE_MS)
      await waitFor(
        () => own.relay.openRequests === 0 && own.relay.openConnections === 0 && misbehaving === 0,
        () => `case ${cases}: ${own.relay.openRequests} requests of ${own.relay.openConnections} connections`,
      )
      // What was said last is on its way.
      await new Promise((resolve) => setTimeout(resolve, 20))
      const last = await RawHttp2.to(own.portOf('https'))
      const fields: Fields = [...GET.filter(([name]) => name !== ':path'), [':path', `/last-${cases}`]]
      for (const id of [1, 3]) {
        last.send(headers(id, fields))
        expect(await last.told(id), `case ${cases} of DEPLOYER_FUZZ_SEED=${SEED}`).toMatch(
          new RegExp(`^:status=200 content-length=\\d+, /last-${cases} end$`),
        )
      }
      last.close()
    }
    const told = faults.mock.calls
      .map(([text]) => String(text))
      .filter((text) => text.includes('a connection failed'))
    faults.mockRestore()
    expect(told).toEqual([])
  },
)
