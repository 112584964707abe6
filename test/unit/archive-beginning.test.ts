import { once } from 'node:events'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { gzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { receiveArchive } from '#daemon/sources/archive.ts'

// No program that reads archives is named here: whatever needs its process fails for want of it.

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'beginning-'))
})
afterAll(() => rm(folder, { recursive: true }))

function receive(...pieces: Buffer[]): Promise<void> {
  return receiveArchive(Readable.from(pieces, { objectMode: false }), join(folder, 'source.tar.gz'))
}

test.each([
  ['nothing', Buffer.alloc(0), 'The archive is empty'],
  ['a zip file', Buffer.from('PK\x03\x04 and more'), 'a zip file'],
  ['text', Buffer.from('hello'), 'not gzip-compressed'],
  ['a form', Buffer.from('--boundary\r\n'), 'a multipart form'],
])('%s is refused without a process that reads it', async (_, bytes, message) => {
  await expect(receive(bytes)).rejects.toMatchObject({
    code: 'invalid_request',
    message: expect.stringContaining(message),
  })
  expect(await readdir(folder)).toEqual([])
})

test('is named also when it comes by the byte', async () => {
  const bytes = [...Buffer.from('PK\x03\x04 and more')].map((byte) => Buffer.of(byte))
  await expect(receive(...bytes)).rejects.toThrow('a zip file')
})

test('a stream that has ended badly before is said to have broken off', async () => {
  const stream = new Readable({ read() {} })
  stream.destroy(new Error('gone'))
  await once(stream, 'error')
  await expect(receiveArchive(stream, join(folder, 'source.tar.gz'))).rejects.toThrow('broke off')
})

test.each([
  ['whole', [gzipSync('hello')]],
  ['by the byte', [...gzipSync('hello')].map((byte) => Buffer.of(byte))],
])('what begins like an archive is judged by one, when it comes %s', async (_, pieces) => {
  await expect(receive(...pieces)).rejects.toThrow('there is no program that reads sources')
})
