import { expect, test } from 'vitest'
// First, since it has read buffers overwritten after use.
import { OwnRelay } from '../own-relay.ts'
import { ERROR, FLAG, FRAME, SETTING } from '../../../proxy/http2/protocol.ts'
import { closing } from '../lifetimes.ts'
import { secureTable } from '../secure.ts'
import { RawUpstream, waitFor } from '../stand.ts'
import {
  GET,
  POST,
  RawHttp2,
  block,
  data,
  frame,
  headers,
  number,
  settings,
  type Frame,
} from './raw-client.ts'

const ACKNOWLEDGEMENT = frame(FRAME.settings, FLAG.ack, 0)
const PING = frame(FRAME.ping, 0, 0, 'abcdefgh')
const MINUTES_MS = 60_000
/** More than the kernel keeps for a reader that takes nothing. */
const MUCH = Buffer.alloc(64 * 1024 * 1024)
const isGoAway = ({ type }: Frame) => type === FRAME.goAway

/** A worker in front of an upstream that answers each head with these bytes, or nothing. */
async function workerBefore(answer: Buffer | string = ''): Promise<{ own: OwnRelay; upstream: RawUpstream }> {
  const upstream = closing(
    await RawUpstream.start((socket, piece) => {
      if (answer !== '' && piece.includes('\r\n\r\n')) socket.write(answer)
    }),
  )
  const table = secureTable([upstream.spec], { upstream_timeout_ms: 20 * MINUTES_MS })
  return { own: await OwnRelay.start(table), upstream }
}

function dial(own: OwnRelay): Promise<RawHttp2> {
  return RawHttp2.to(own.portOf('https'))
}

/** Waits until everything was read that was sent before. */
async function settled(client: RawHttp2): Promise<void> {
  const pongs = () => client.frames.filter(({ type }) => type === FRAME.ping).length
  const before = pongs()
  client.send(PING)
  await waitFor(
    () => pongs() > before,
    () => 'no answer to PING',
  )
}

test('a client that does not acknowledge settings is disconnected after 30 s, and not before', async () => {
  const { own } = await workerBefore()
  const client = await dial(own)
  await settled(client)
  await own.pass(24_000)
  await settled(client)
  await own.pass(8_000)
  expect((await client.until(isGoAway)).content.readUInt32BE(4)).toBe(ERROR.settingsTimeout)
  await client.end()
})

test('a header block that comes in small pieces is ended after 30 s, counted from its first', async () => {
  const { own, upstream } = await workerBefore()
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT)
  await settled(client)
  client.send(frame(FRAME.headers, FLAG.endStream, 1, block(GET)))
  await own.pass(12_000)
  client.send(frame(FRAME.continuation, 0, 1))
  await own.pass(12_000)
  client.send(frame(FRAME.continuation, 0, 1))
  expect(client.frames.some(isGoAway)).toBe(false)
  await own.pass(8_000)
  expect((await client.until(isGoAway)).content.readUInt32BE(4)).toBe(ERROR.enhanceYourCalm)
  await client.end()
  expect(upstream.received).toBe('')
})

test('a frame that stops within its header is ended after 30 s', async () => {
  const { own } = await workerBefore()
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT)
  await settled(client)
  client.send(headers(1).subarray(0, 5))
  await own.pass(24_000)
  expect(client.frames.some(isGoAway)).toBe(false)
  await own.pass(8_000)
  expect((await client.until(isGoAway)).content.readUInt32BE(4)).toBe(ERROR.enhanceYourCalm)
})

test('a client without requests gets GOAWAY after 75 s, whatever else it sends', async () => {
  const { own } = await workerBefore()
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT)
  await settled(client)
  for (const milliseconds of [34_000, 34_000]) {
    await own.pass(milliseconds)
    await settled(client)
  }
  expect(client.frames.some(isGoAway)).toBe(false)
  await own.pass(8_000)
  expect((await client.until(isGoAway)).content.readUInt32BE(4)).toBe(ERROR.none)
  await client.end()
})

test('a body that stops is 408 after 60 s, counted from its last byte', async () => {
  const { own, upstream } = await workerBefore()
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT, headers(1, POST, false), data(1, 'some'))
  await waitFor(
    () => upstream.received.includes('some'),
    () => upstream.received,
  )
  await own.pass(55_000)
  client.send(data(1, ' more'))
  await waitFor(
    () => upstream.received.includes(' more'),
    () => upstream.received,
  )
  await own.pass(54_000)
  await settled(client)
  expect(client.frames.some(({ id }) => id === 1)).toBe(false)
  await own.pass(8_000)
  expect(await client.outcome(1)).toBe('408')
})

test('an answer that waits for a window is given up 60 s after the client last read something', async () => {
  const { own, upstream } = await workerBefore('HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nsmall')
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT, settings([SETTING.initialWindowSize, 0]), headers(1))
  expect(await client.outcome(1)).toBe('200')
  await own.pass(54_000)
  client.send(frame(FRAME.windowUpdate, 0, 1, number(1)))
  await client.until(({ type, id }) => type === FRAME.data && id === 1)
  await own.pass(54_000)
  await settled(client)
  expect(client.frames.some(({ type }) => type === FRAME.reset)).toBe(false)
  await own.pass(8_000)
  await client.until(({ type, id }) => type === FRAME.reset && id === 1)
  expect(client.body(1).toString()).toBe('s')
  // The connection continues.
  client.send(settings([SETTING.initialWindowSize, 100]), headers(3))
  expect(await client.outcome(3)).toBe('200')
  expect(upstream.requestLines).toHaveLength(2)
})

test('a client that reads nothing is disconnected after 60 s', async () => {
  const head = `HTTP/1.1 200 OK\r\nContent-Length: ${MUCH.length}\r\n\r\n`
  const { own, upstream } = await workerBefore(Buffer.concat([Buffer.from(head), MUCH]))
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT, settings([SETTING.initialWindowSize, MUCH.length]))
  client.send(frame(FRAME.windowUpdate, 0, 0, number(MUCH.length)), headers(1))
  await client.until(({ type }) => type === FRAME.data)
  client.pause()
  const waiting = () => upstream.sockets[0]?.writableLength ?? 0
  // What a busy machine delivers late restarts the minute.
  for (let looks = 0, before = -1; looks < 3; before = waiting()) {
    looks = waiting() === before ? looks + 1 : 0
    await own.pass(1_000)
  }
  expect(own.relay.openConnections).toBe(1)
  await own.pass(64_000)
  await own.pass(62_000)
  await expect.poll(() => own.relay.openConnections).toBe(0)
})

test('a client that has said goodbye has ten minutes for what is under way', async () => {
  const { own, upstream } = await workerBefore()
  const client = await dial(own)
  client.send(ACKNOWLEDGEMENT, headers(1), frame(FRAME.goAway, 0, 0, Buffer.alloc(8)))
  await waitFor(
    () => upstream.requestLines.length === 1,
    () => upstream.received,
  )
  await own.pass(10 * MINUTES_MS - 6_000)
  await settled(client)
  await own.pass(8_000)
  await client.end()
})
