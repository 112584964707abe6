import { Readable } from 'node:stream'
import { pack, type Header } from 'tar-stream'
import { expect, test } from 'vitest'
import { wholeTar } from '#daemon/disks/whole-tar.ts'
import { Tally } from '#daemon/moves/tally.ts'

type Entry = [header: Pick<Header, 'name'> & Partial<Header>, content?: string]

const FOLDER: Entry = [{ name: 'volume', type: 'directory', mode: 0o700, uid: 70, gid: 70 }]
const FILE: Entry = [{ name: 'volume/a', mode: 0o600, uid: 70, gid: 70 }, 'content']
const LINK: Entry = [{ name: 'volume/b', type: 'symlink', linkname: 'a' }]

/** What an archive of these entries is counted as, and how many bytes it was said to have by now. */
async function tally(...entries: Entry[]) {
  const tar = pack()
  for (const [header, content = ''] of entries)
    tar.entry({ mtime: new Date(Math.random() * 1e12), ...header }, content)
  tar.finalize()
  const heard: number[] = []
  const counted = new Tally((bytes) => heard.push(bytes))
  const archive = Readable.from(tar as AsyncIterable<Buffer>, { objectMode: false })
  for await (const _ of wholeTar(archive, counted));
  return { counted, heard }
}

test('a copy is the same whatever its times, and its bytes are counted', async () => {
  const [source, copy] = [await tally(FOLDER, FILE, LINK), await tally(FOLDER, FILE, LINK)]
  expect(copy.counted.differenceFrom(source.counted)).toBeNull()
  expect(source.heard.at(-1)).toBe('content'.length)
})

test.each<[string, Entry[]]>([
  ['a file less', [FOLDER, FILE]],
  ['other content of the same length', [FOLDER, [FILE[0], 'cOntent'], LINK]],
  ['another owner', [FOLDER, [{ ...FILE[0], uid: 0 }, 'content'], LINK]],
  ['other rights', [FOLDER, [{ ...FILE[0], mode: 0o644 }, 'content'], LINK]],
  ['another link', [FOLDER, FILE, [{ ...LINK[0], linkname: 'volume' }]]],
])('a copy with %s is another', async (_, entries) => {
  const [source, copy] = [await tally(FOLDER, FILE, LINK), await tally(...entries)]
  expect(copy.counted.differenceFrom(source.counted)).toMatch(
    /^3 files with 7 bytes were sent, \d with 7 bytes arrived$/,
  )
})
