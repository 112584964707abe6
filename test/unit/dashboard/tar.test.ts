import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { extract } from 'tar-stream'
import { expect, test } from 'vitest'
import { tarOf, type TarFile } from '../../../dashboard/src/deploys/tar.ts'

function file(path: string, content: string): TarFile {
  const bytes = new TextEncoder().encode(content)
  return { path, size: bytes.length, modifiedAt: 1_700_000_000, stream: () => new Blob([bytes]).stream() }
}

async function read(files: TarFile[]): Promise<Record<string, string>> {
  const found: Record<string, string> = {}
  const reader = Readable.from(tarOf(files)).pipe(extract())
  for await (const entry of reader) {
    found[entry.header.name] = (await buffer(entry)).toString()
    expect(entry.header).toMatchObject({ type: 'file', mode: 0o755, mtime: new Date(1_700_000_000_000) })
  }
  return found
}

test('an archive contains each file with its path, however long and in any script', async () => {
  const paths = ['a', 'src/ähnlich/日本.ts', `${'long/'.repeat(60)}file`, 'n'.repeat(100), 'n'.repeat(101)]
  const files = paths.map((path, index) => file(path, 'x'.repeat(index * 300)))
  expect(await read(files)).toEqual(
    Object.fromEntries(paths.map((path, index) => [path, 'x'.repeat(index * 300)])),
  )
})

test('a file whose size is a whole number of blocks, or zero, ends where the next one begins', async () => {
  const contents = { empty: '', block: 'b'.repeat(512), next: 'n' }
  expect(await read(Object.entries(contents).map(([path, text]) => file(path, text)))).toEqual(contents)
})

test('a file that changes while it is read makes no archive', async () => {
  const archive = Readable.from(tarOf([{ ...file('a', 'abc'), size: 2 }]))
  await expect(buffer(archive)).rejects.toThrow('a changed while it was being read')
})
