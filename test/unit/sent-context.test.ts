import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import { finished } from 'node:stream/promises'
import { afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { SentContext } from '../../daemon/builds/sent-context.ts'
import { SourceTree } from '../../daemon/builds/source-tree.ts'
import { Reader } from '../../daemon/reader/reader.ts'
import { useBuiltReader } from '../support/reader.ts'
import { waitFor } from '../support/wait.ts'

const RECIPE = { file: { kind: 'tree', path: 'Dockerfile' }, needsWhole: false } as const
/** More than a pipe and its buffers hold. */
const LARGE_BYTES = 8 * 1024 * 1024

let directory: string
let reader: Reader
let context: SentContext
let notes: string[]

beforeAll(useBuiltReader)
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'sent-'))
  const tree = join(directory, 'tree')
  await mkdir(tree)
  await writeFile(join(tree, 'Dockerfile'), 'FROM x')
  await writeFile(join(tree, 'large'), randomBytes(LARGE_BYTES))
  reader = new Reader()
  const place = { directory: tree, folder: '' }
  notes = []
  const source = new SourceTree(place, reader, directory, new AbortController().signal)
  context = new SentContext(source, RECIPE, false, (note) => notes.push(note))
})
afterEach(async () => {
  await reader.end()
  await rm(directory, { recursive: true, force: true })
})

test('a build context arrives completely, and its tree is removed then', async () => {
  expect((await buffer(context.tar)).length).toBeGreaterThan(LARGE_BYTES)
  expect(context.fault).toBeUndefined()
  await waitFor(() => !existsSync(directory), 'the tree to be removed')
})

test('the pieces of a build context are freed as they are written', async () => {
  const pieces: Buffer[] = []
  const sink = new Writable({
    write(piece: Buffer, _encoding, written) {
      pieces.push(piece)
      setImmediate(written)
    },
  })
  await finished(context.tar.pipe(sink))
  expect(pieces.length).toBeGreaterThan(LARGE_BYTES / (64 * 1024))
  expect(pieces.every(({ buffer }) => buffer.byteLength === 0)).toBe(true)
})

test('a build context reports which scripts have other line ends than the source', async () => {
  await writeFile(join(directory, 'tree/entrypoint.sh'), '#!/bin/sh\r\nexec serve\r\n')
  expect((await buffer(context.tar)).toString('latin1')).toContain('#!/bin/sh\nexec serve\n')
  expect(notes).toEqual([
    'scripts with Windows line endings do not start on Linux, so these are built with Linux line endings: entrypoint.sh',
  ])
})

test('a build context whose packing is cut off fails, and never passes as complete', async () => {
  const read = async (): Promise<void> => {
    for await (const _ of context.tar) await reader.end()
  }
  await expect(read()).rejects.toThrow('the source reader was ended')
  expect(context.fault).toBeDefined()
})

test('a build context that cannot be packed fails with the reason', async () => {
  await rm(join(directory, 'tree/Dockerfile'))
  await expect(buffer(context.tar)).rejects.toThrow('there is no file Dockerfile')
  expect(context.fault).toMatchObject({ name: 'BuildFailure' })
})
