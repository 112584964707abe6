import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { pack } from 'tar-stream'
import { expect, test } from 'vitest'
import { TornArchive, wholeTar } from '#daemon/disks/whole-tar.ts'

const CONTENT = Buffer.alloc(300_000, 'x')

async function archive(): Promise<Buffer> {
  const tar = pack()
  tar.entry({ name: 'data', type: 'directory' })
  tar.entry({ name: `data/${'long/'.repeat(40)}name` }, CONTENT)
  tar.entry({ name: 'data/zeros' }, Buffer.alloc(10_000))
  tar.entry({ name: 'data/link', type: 'symlink', linkname: 'zeros' })
  tar.finalize()
  return buffer(Readable.from(tar as AsyncIterable<Buffer>, { objectMode: false }))
}

/** What passes through, from pieces of this size. */
function pass(bytes: Buffer, pieceBytes: number): Promise<Buffer> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, at) =>
    bytes.subarray(at * pieceBytes, (at + 1) * pieceBytes),
  )
  return buffer(wholeTar(Readable.from(pieces, { objectMode: false })))
}

test.each([[100], [512], [65_536], [1_000_000]])(
  'a whole archive passes as it is, in pieces of %i',
  async (size) => {
    const whole = await archive()
    expect((await pass(whole, size)).equals(whole)).toBe(true)
  },
)

test('an archive that breaks off is noticed, wherever that is, also among zeros', async () => {
  const whole = await archive()
  const zeros = whole.indexOf('data/zeros')
  const ends = [0, 512, 1_000, 200_000, zeros, zeros + 512, zeros + 5_120, whole.length - 1_024]
  for (const end of ends) await expect(pass(whole.subarray(0, end), 65_536)).rejects.toThrow(TornArchive)
})

test('what follows in the wrong place is noticed', async () => {
  const whole = await archive()
  const shifted = Buffer.concat([whole.subarray(0, 100_000), whole.subarray(150_000)])
  await expect(pass(shifted, 65_536)).rejects.toThrow(TornArchive)
})
