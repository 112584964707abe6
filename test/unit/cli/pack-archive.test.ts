import { execFileSync, spawnSync } from 'node:child_process'
import { createHash, randomBytes } from 'node:crypto'
import {
  appendFileSync,
  chmodSync,
  cpSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { pack } from '../../../cli/client/pack/archive.ts'
import { load, LIMIT_BYTES } from '../../../cli/client/pack/load.ts'
import { UPLOAD_LIMIT_BYTES } from '../../../server/deploys/folders.ts'
import { unpackArchive } from '../../../daemon/sources/unpack.ts'
import { contentsOf, folderOf, write } from './pack-folder.ts'

const ignoreBytes = (): void => {}

async function packed(folder: string): Promise<Buffer> {
  const { entries } = await contentsOf(folder)
  return await buffer(pack({ folder, entries, top: '' }, ignoreBytes))
}

/** Unpacks with the real program. */
function unpacked(archive: Buffer): Disposable & { path: string } {
  const folder = folderOf({})
  execFileSync('tar', ['-xzf', '-', '-C', folder.path], { input: archive })
  return folder
}

const LONG = `${'d'.repeat(120)}/${'e'.repeat(120)}/${'f'.repeat(200)}`

describe('an archive', () => {
  test('has what the folder has, for the real tar', async () => {
    using folder = folderOf({
      a: 'x'.repeat(1_000_001),
      'b/c.txt': 'c',
      'b.txt': 'b',
      empty: '',
      exact: 'y'.repeat(512),
      'ü/日本 🚀': 'names',
      [LONG]: 'long',
      [`${'p'.repeat(90)}/${'q'.repeat(90)}`]: 'fits into two fields',
      'quo\'te "\\ \n': 'odd',
    })
    mkdirSync(join(folder.path, 'hollow'))
    symlinkSync('b.txt', join(folder.path, 'link'))
    symlinkSync(`../${LONG}`, join(folder.path, 'b/to-long'))
    symlinkSync('nowhere', join(folder.path, 'dangling'))
    using copy = unpacked(await packed(folder.path))
    const diff = spawnSync('diff', ['--recursive', '--no-dereference', folder.path, copy.path])
    expect(diff.stdout.toString()).toBe('')
    expect(readdirSync(join(copy.path, 'hollow'))).toEqual([])
    expect(readlinkSync(join(copy.path, 'b/to-long'))).toBe(`../${LONG}`)
  })

  test('names its entries in the byte order of their paths', async () => {
    using folder = folderOf({
      'a/b': '',
      'a.txt': '',
      'a-b/c': '',
      B: '',
      '\u{ff5e}': '',
      '\u{1f680}': '',
      a0: '',
    })
    const { entries } = await contentsOf(folder.path)
    const paths = [...entries].map(({ path }) => path)
    const sorted = paths.toSorted((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)))
    expect(paths).toEqual(sorted)
    expect(paths).toEqual(['B', 'a', 'a-b', 'a-b/c', 'a.txt', 'a/b', 'a0', '\u{ff5e}', '\u{1f680}'])
  })

  test('has no owner, modes by who may execute, and times to the second', async () => {
    using folder = folderOf({ plain: 'x', run: 'x', script: '#!/bin/sh\n', private: 'x', 'dir/x': '' })
    chmodSync(join(folder.path, 'run'), 0o700)
    chmodSync(join(folder.path, 'private'), 0o600)
    chmodSync(join(folder.path, 'dir'), 0o700)
    for (const name of ['plain', 'run', 'script', 'private', 'dir/x', 'dir'])
      utimesSync(join(folder.path, name), 1_700_000_000.9, 1_700_000_000.9)
    const listed = execFileSync('tar', ['-tvzf', '-', '--numeric-owner', '--full-time', '--utc'], {
      input: await packed(folder.path),
      encoding: 'utf8',
    })
    const lines = listed
      .trim()
      .split('\n')
      .map((line) => line.split(/ +/))
    expect(lines.map(([mode, owner, , day, time, name]) => [mode, owner, `${day} ${time}`, name])).toEqual(
      [
        ['drwxr-xr-x', 'dir/'],
        ['-rw-r--r--', 'dir/x'],
        ['-rw-r--r--', 'plain'],
        ['-rw-r--r--', 'private'],
        ['-rwxr-xr-x', 'run'],
        ['-rwxr-xr-x', 'script'],
      ].map(([mode, name]) => [mode, '0/0', '2023-11-14 22:13:20', name]),
    )
  })

  test('of the same tree has the same bytes, wherever it is', async () => {
    using folder = folderOf({ 'a/b': randomBytes(700_000).toString('base64'), c: 'c', 'd/e/f': 'f' })
    using other = folderOf({})
    cpSync(folder.path, other.path, { recursive: true, preserveTimestamps: true })
    // Made in another order: the folder's own list has another one.
    unlinkSync(join(other.path, 'c'))
    cpSync(join(folder.path, 'c'), join(other.path, 'c'), { preserveTimestamps: true })
    const hashes = [folder, other, folder].map(async ({ path }) =>
      createHash('sha256')
        .update(await packed(path))
        .digest('hex'),
    )
    const [one, two, three] = await Promise.all(hashes)
    expect([two, three]).toEqual([one, one])
  })

  test('keeps files that only together fill its buffer', async () => {
    const sizes = [1, 511, 512, 513, 130_000, 131_072, 262_144 - 512, 262_144, 262_145, 700_000]
    using folder = folderOf(
      Object.fromEntries(sizes.map((size) => [`file-${size}`, String(size % 10).repeat(size)])),
    )
    using copy = unpacked(await packed(folder.path))
    for (const size of sizes)
      expect(readFileSync(join(copy.path, `file-${size}`), 'utf8')).toBe(String(size % 10).repeat(size))
  })
})

describe('a folder that is one folder alone', () => {
  test('is unpacked by the server as it is', async () => {
    using folder = folderOf({ 'public/index.html': 'x', '._resource': '' })
    const contents = await contentsOf(folder.path)
    const { body } = await load(folder.path, contents, ignoreBytes)
    using place = folderOf({})
    const path = join(place.path, 'archive')
    writeFileSync(path, await buffer(body))
    await unpackArchive({ path, directory: join(place.path, 'tree') })
    expect(readdirSync(join(place.path, 'tree')).toSorted()).toEqual(['._resource', 'public'])
  })
})

describe('what cannot be deployed is a fault with its path:', () => {
  test.each([
    ['an absolute link', '/etc/passwd'],
    ['a link out of the folder', '../../x'],
    ['one that comes back', '../../pack/x'],
    ['one that leads out by way of another link', 'deep/up/../../x'],
  ])('%s', async (_title, target) => {
    using folder = folderOf({ 'sub/x': '' })
    mkdirSync(join(folder.path, 'sub/deep'))
    symlinkSync('../..', join(folder.path, 'sub/deep/up'))
    symlinkSync(target, join(folder.path, 'sub/bad'))
    await expect(contentsOf(folder.path)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining(`sub/bad is a link to ${target}, out of the folder`),
    })
    write(folder.path, '.deployerignore', 'bad')
    expect([...(await contentsOf(folder.path)).entries].map(({ path }) => path)).toContain('sub/deep/up')
  })

  test('a link whose name has line ends and sequences for terminals', async () => {
    using folder = folderOf({})
    symlinkSync('/etc', join(folder.path, 'a\n\u001b[31mb'))
    await expect(contentsOf(folder.path)).rejects.toMatchObject({
      message: expect.stringMatching(/^ab is a link to \/etc, out/),
    })
  })

  test('a name that is not UTF-8, unless it is left out', async () => {
    using folder = folderOf({ '.gitignore': '*.log' })
    writeFileSync(
      Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0xff]), Buffer.from('.log')]),
      '',
    )
    await contentsOf(folder.path)
    writeFileSync(Buffer.concat([Buffer.from(`${folder.path}/`), Buffer.from([0x61, 0xff])]), '')
    await expect(contentsOf(folder.path)).rejects.toMatchObject({
      exitCode: 2,
      message: 'the name of a\u{fffd} is not UTF-8; rename it',
    })
  })

  test('a socket or pipe is only noted', async () => {
    using folder = folderOf({ a: '' })
    execFileSync('mkfifo', [join(folder.path, 'pipe')])
    const server = createServer().listen(join(folder.path, 'socket'))
    await new Promise((resolve) => server.once('listening', resolve))
    const { entries, unpackable } = await contentsOf(folder.path)
    server.close()
    expect(unpackable).toEqual(['pipe', 'socket'])
    expect([...entries].map(({ path }) => path)).toEqual(['a'])
  })

  const CHANGED = {
    exitCode: 1,
    message: 'large changed while it was read; nothing was deployed, run it again',
  }

  test.each([
    ['grows', (path: string) => appendFileSync(path, 'more')],
    ['shrinks', (path: string) => truncateSync(path, 10)],
  ])('a file that %s while it is read', async (_title, change) => {
    using folder = folderOf({ large: 'x'.repeat(2_000_000) })
    const { entries } = await contentsOf(folder.path)
    let reads = 0
    const onRead = (): void => {
      reads += 1
      if (reads === 1) change(join(folder.path, 'large'))
    }
    await expect(buffer(pack({ folder: folder.path, entries, top: '' }, onRead))).rejects.toMatchObject(
      CHANGED,
    )
  })

  test.each([
    ['is removed', unlinkSync],
    ['becomes a link', (path: string) => (unlinkSync(path), symlinkSync('a', path))],
    ['becomes a pipe', (path: string) => (unlinkSync(path), execFileSync('mkfifo', [path]))],
  ])('a file that %s before it is read', async (_title, change) => {
    using folder = folderOf({ a: 'a', large: 'x' })
    const { entries } = await contentsOf(folder.path)
    change(join(folder.path, 'large'))
    await expect(buffer(pack({ folder: folder.path, entries, top: '' }, ignoreBytes))).rejects.toMatchObject(
      CHANGED,
    )
  })

  test.skipIf(process.getuid?.() === 0)('a file that only others may read', async () => {
    using folder = folderOf({ secret: 'x' })
    chmodSync(join(folder.path, 'secret'), 0)
    await expect(packed(folder.path)).rejects.toMatchObject({
      exitCode: 2,
      message: expect.stringContaining('cannot read secret: permission denied'),
    })
  })
})

describe('the limit', () => {
  test("is the server's", () => {
    expect(LIMIT_BYTES).toBe(UPLOAD_LIMIT_BYTES)
  })

  test('is of the packed size: what compresses well may be larger, and is complete before it is sent', async () => {
    using folder = folderOf({ zeros: '\0'.repeat(3_000_000), 'a/b': 'x' })
    using spool = folderOf({})
    vi.stubEnv('TMPDIR', spool.path)
    onTestFinished(() => void vi.unstubAllEnvs())
    const { body, bytes } = await load(folder.path, await contentsOf(folder.path), ignoreBytes, 100_000)
    const archive = await buffer(body)
    expect(bytes).toBe(archive.length)
    expect(readdirSync(spool.path)).toEqual([])
    using copy = unpacked(archive)
    expect(statSync(join(copy.path, 'zeros')).size).toBe(3_000_000)
    expect(archive).toEqual(await packed(folder.path))
  })

  test('names the largest files and folders of what is larger', async () => {
    const megabytes = (count: number): string => randomBytes(count * 500_000).toString('hex')
    using folder = folderOf({
      'data/raw/one': megabytes(3),
      'data/raw/two': megabytes(2),
      'media/three': megabytes(1),
      ...Object.fromEntries(['e', 'f', 'g', 'h'].map((name) => [name, name])),
    })
    const loading = load(folder.path, await contentsOf(folder.path), ignoreBytes, 1024 * 1024)
    await expect(loading).rejects.toMatchObject({
      exitCode: 2,
      message:
        'the folder is larger than 1 MiB as packed; leave out in .deployerignore what the build does not need' +
        ' (largest files: data/raw/one 2.9 MiB, data/raw/two 1.9 MiB, media/three 1.0 MiB, e 0.0 MiB, f 0.0 MiB;' +
        ' largest folders: data/raw 4.8 MiB, media 1.0 MiB)',
    })
  })
})
