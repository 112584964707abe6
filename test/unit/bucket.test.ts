import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { createServer, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Bucket } from '#server/backups/bucket.ts'

const OBJECT = Buffer.from(Array.from({ length: 300_000 }, (_, at) => at % 251))

let server: Server
let bucket: Bucket
/** How often the busy store was asked. */
let asked = 0
/** The keys with which the guarded object was requested. */
const keys: string[] = []
const REFUSAL = '<Error><Code>InvalidAccessKeyId</Code><Message>There is no such key.</Message></Error>'
const slow = Promise.withResolvers<ServerResponse>()
beforeAll(async () => {
  // It does not support ranges, but sends a wrong part for this name.
  server = createServer((request, response) => {
    if (request.url!.endsWith('guarded')) {
      keys.push(/Credential=([^/]+)/.exec(request.headers.authorization!)![1]!)
      if (keys.at(-1) !== 'new') return void response.writeHead(403).end(REFUSAL)
    }
    if (request.url!.endsWith('weak')) response.setHeader('etag', 'W/"66-18b"')
    if (request.method === 'PUT')
      return void request.resume().once('end', () => response.end('<html>Sign in</html>'))
    if (request.url!.endsWith('slow')) {
      slow.resolve(response)
      return void response.writeHead(200, { 'content-length': OBJECT.length }).write(OBJECT.subarray(0, 1))
    }
    if (request.url!.endsWith('busy') && asked++ === 0)
      return void response.writeHead(503, { 'retry-after': '2' }).end()
    const isOther = request.url!.endsWith('other')
    if (isOther) response.setHeader('content-range', `bytes 0-9/${OBJECT.length}`)
    response.writeHead(isOther ? 206 : 200, { 'content-length': isOther ? 10 : OBJECT.length })
    response.end(isOther ? OBJECT.subarray(0, 10) : OBJECT)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/backups`
  bucket = new Bucket({ url, accessKeyId: 'a', secretAccessKey: 'b', region: 'c' })
})
afterAll(() => {
  server.closeAllConnections()
  server.close()
})

const get = (name: string, start: number, end: number) =>
  bucket.get(bucket.urlOf(name), new AbortController().signal, { start, end })

test.each([
  [0, 1],
  [5, 9],
  [65_530, 131_080],
  [0, OBJECT.length],
  [OBJECT.length - 1, OBJECT.length],
])('from a store without ranges, the bytes from %i to %i are still returned', async (start, end) => {
  const { size, stream } = await get('object', start, end)
  expect(size).toBe(OBJECT.length)
  expect((await buffer(stream)).equals(OBJECT.subarray(start, end))).toBe(true)
})

test('another part than requested is refused', async () => {
  await expect(get('other', 5, 9)).rejects.toMatchObject({ code: 'io_error' })
})

test('a part that nobody reads stops the store from sending', async () => {
  const { stream } = await get('slow', 5, 9)
  const left = once(await slow.promise, 'close')
  stream.destroy()
  await left
})

test('a store that asks to be left alone for a while is asked again after that', async () => {
  const began = performance.now()
  const { stream } = await get('busy', 5, 9)
  expect((await buffer(stream)).equals(OBJECT.subarray(5, 9))).toBe(true)
  expect(asked).toBe(2)
  expect(performance.now() - began).toBeGreaterThan(1_900)
})

test('a bucket at a forbidden address is not asked', async () => {
  const url = 'http://169.254.169.254/backups'
  const forbidden = new Bucket({ url, accessKeyId: 'a', secretAccessKey: 'b', region: 'c' })
  await expect(forbidden.get(forbidden.urlOf('x'), new AbortController().signal)).rejects.toMatchObject({
    code: 'io_error',
    message: expect.stringContaining('is a link-local'),
  })
})

test('refused keys are read again from their files, once for all requests', async () => {
  let reads = 0
  const read = { accessKeyId: 'old', secretAccessKey: 'b' }
  const readKeys = () => {
    reads += 1
    return read
  }
  const guarded = new Bucket({ url: bucket.urlOf('').slice(0, -1), ...read, region: 'c', readKeys })
  const ask = () => guarded.get(guarded.urlOf('guarded'), new AbortController().signal)
  await expect(ask()).rejects.toMatchObject({ message: expect.stringContaining('There is no such key') })
  expect({ keys, reads }).toEqual({ keys: ['old'], reads: 1 })
  read.accessKeyId = 'new'
  for (const { stream } of await Promise.all([ask(), ask()])) stream.destroy()
  await ask().then(({ stream }) => stream.destroy())
  expect({ keys: keys.sort(), reads }).toEqual({ keys: ['new', 'new', 'new', 'old', 'old', 'old'], reads: 2 })
})

test.each([
  ['it', 'its response has no ETag'],
  ['weak', 'its response has a weak ETag'],
])('a page that answers an upload as if it had worked is not taken for a store (%s)', async (name, said) => {
  const path = import.meta.filename
  const bytes = readFileSync(path)
  const file = { path, size: bytes.length, sha256: createHash('sha256').update(bytes).digest('hex') }
  await expect(bucket.put(bucket.urlOf(name), file, new AbortController().signal)).rejects.toMatchObject({
    code: 'io_error',
    message: expect.stringContaining(said),
  })
})
