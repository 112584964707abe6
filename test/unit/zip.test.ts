import { randomBytes } from 'node:crypto'
import { buffer } from 'node:stream/consumers'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { zip } from '../../server/server-backups/zip.ts'

const MIB = 1024 * 1024
const text = Buffer.alloc(2.5 * MIB, '{"stream":"stdout","line":"GET /a 200 in 12 ms"}\n')
const random = randomBytes(2.5 * MIB)

/** Cuts bytes into pieces of these sizes, over and over. */
async function* inPieces(bytes: Buffer, ...sizes: number[]): AsyncGenerator<Buffer> {
  for (let at = 0, round = 0; at < bytes.length; round++) {
    const size = sizes[round % sizes.length]!
    yield bytes.subarray(at, at + size)
    at += size
  }
}

test.each([
  ['of a block each', [MIB]],
  ['that end anywhere', [7, 300_001, 1, 2 * MIB + 3]],
  ['of everything', [6 * MIB]],
])('what was zipped from pieces %s is one gzip file', async (_, sizes) => {
  const all = Buffer.concat([text, random, text])
  const zipped = await buffer(zip(inPieces(all, ...sizes)))
  expect(gunzipSync(zipped).equals(all)).toBe(true)
})

test('what fills its last block is one gzip file, too', async () => {
  const full = random.subarray(0, 2 * MIB)
  expect(gunzipSync(await buffer(zip(inPieces(full, MIB)))).equals(full)).toBe(true)
})

test('nothing at all is a gzip file, too', async () => {
  expect(gunzipSync(await buffer(zip(inPieces(Buffer.alloc(0), 1))))).toHaveLength(0)
})

test('text is compressed, and what cannot be compressed hardly grows', async () => {
  expect((await buffer(zip(inPieces(text, MIB)))).length).toBeLessThan(text.length / 20)
  expect((await buffer(zip(inPieces(random, MIB)))).length).toBeLessThan(random.length * 1.001)
})
