import { randomBytes } from 'node:crypto'
import { lstat, mkdtemp, readdir, readFile, readlink, rm, stat, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { createGzip, gzipSync } from 'node:zlib'
import { pack, type Header } from 'tar-stream'
import { afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { BuildFailure } from '#plans/index.ts'
import { receiveArchive } from '../../daemon/sources/archive.ts'
import { keepArchive } from '../../daemon/sources/keep-archive.ts'
import { unpackArchive } from '../../daemon/sources/unpack.ts'
import { AppError } from '../../server/errors.ts'
import { useBuiltReader } from '../support/reader.ts'

type Item = Partial<Header> & { name: string; content?: string | Buffer }

let directory: string
let target: string

beforeAll(useBuiltReader)
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'archive-'))
  target = join(directory, 'source.tar.gz')
})
afterEach(() => rm(directory, { recursive: true, force: true }))

/** A tar archive; `pax` of an item is written as separate records. */
async function tar(items: Item[]): Promise<Buffer> {
  const archive = pack()
  for (const { content, ...header } of items) archive.entry(header, content ?? '')
  archive.finalize()
  const chunks: Buffer[] = []
  for await (const chunk of archive as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks)
}

const tarball = async (items: Item[]) => gzipSync(await tar(items))

/** Sends bytes in pieces, as a network does, to the code that checks them. */
function send(bytes: Buffer, pieceBytes = 1_000): Promise<null> {
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    bytes.subarray(index * pieceBytes, (index + 1) * pieceBytes),
  )
  return keepArchive({ path: target }, Readable.from(pieces, { objectMode: false }))
}

async function refusal(bytes: Buffer, pieceBytes?: number): Promise<string> {
  const error = await send(bytes, pieceBytes).then(
    () => null,
    (thrown: unknown) => thrown,
  )
  expect(error).toBeInstanceOf(BuildFailure)
  return (error as BuildFailure).message
}

async function unpack(items: Item[]): Promise<string> {
  await writeFile(target, await tarball(items))
  const tree = join(directory, 'tree')
  await unpackArchive({ path: target, directory: tree })
  return tree
}

describe('receiving', () => {
  test('keeps a good archive byte for byte, readable only by its owner', async () => {
    const bytes = await tarball([
      { name: 'a.txt', content: 'hello' },
      { name: 'b', content: randomBytes(70_000) },
    ])
    await receiveArchive(Readable.from([Buffer.from(bytes)]), target)
    expect(await readFile(target)).toEqual(bytes)
    const byTheByte = [...bytes.subarray(0, 5)].map((byte) => Buffer.of(byte))
    byTheByte.push(Buffer.from(bytes.subarray(5)))
    await receiveArchive(Readable.from(byTheByte, { objectMode: false }), target)
    expect(await readFile(target)).toEqual(bytes)
    expect((await stat(target)).mode & 0o777).toBe(0o600)
    expect(await readdir(directory)).toEqual(['source.tar.gz'])
  })

  test('accepts an archive that comes byte by byte', async () => {
    const bytes = await tarball([{ name: 'a.txt', content: 'hello' }])
    await send(bytes, 1)
    expect(await readFile(target)).toEqual(bytes)
  })

  test('accepts several gzip members and zeros after them', async () => {
    const whole = await tar([{ name: 'a', content: 'x'.repeat(3_000) }])
    const bytes = Buffer.concat([
      gzipSync(whole.subarray(0, 700)),
      gzipSync(whole.subarray(700)),
      Buffer.alloc(5_000),
    ])
    await send(bytes)
    expect(await readFile(target)).toEqual(bytes)
  })

  test.each([
    ['nothing', Buffer.alloc(0), 'is empty'],
    ['one byte of gzip', Buffer.from([0x1f]), 'not gzip-compressed'],
    ['a zip file', Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(4_000)]), 'a zip file'],
    ['a short zip file', Buffer.from('PK\x03\x04'), 'a zip file'],
    ['text', Buffer.from('{"name":"x"}'), 'not gzip-compressed'],
    ['xz', Buffer.from([0xfd, 0x37, 0x7a, 0x58, 0x5a, 0, 0, 0]), 'xz-compressed'],
    ['a multipart form', Buffer.from('------boundary\r\n'), 'multipart form'],
    ['gzip of text', gzipSync('hello'.repeat(1_000)), 'not a tar archive'],
    ['gzip of little text', gzipSync('hello'), 'not a tar archive'],
    ['gzip of nothing', gzipSync(''), 'contains no files'],
    ['gzip of zeros', gzipSync(Buffer.alloc(10_240)), 'contains no files'],
  ])('refuses %s', async (_name, bytes, said) => {
    expect(await refusal(bytes)).toContain(said)
  })

  test('refuses a bare tar archive and says what it is', async () => {
    expect(await refusal(await tar([{ name: 'a', content: 'x' }]), 100)).toContain('without compression')
  })

  test('refuses foreign formats before the upload ends, and leaves the stream to its owner', async () => {
    const stream = new PassThrough()
    stream.write(Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(4_000)]))
    await expect(receiveArchive(stream, target)).rejects.toMatchObject({
      code: 'invalid_request',
      message: expect.stringContaining('a zip file'),
    })
    expect(await readdir(directory)).toEqual([])
    expect(stream.destroyed).toBe(false)
    stream.destroy()
  })

  test('refuses an archive cut at any place', async () => {
    const bytes = await tarball([
      { name: 'a', content: randomBytes(2_000) },
      { name: 'b', content: randomBytes(300) },
    ])
    for (let end = 2; end < bytes.length; end += 97) {
      expect(await refusal(bytes.subarray(0, end))).toMatch(/too early/)
    }
  })

  test('refuses a tar archive cut at any place inside whole gzip data', async () => {
    const whole = await tar([
      { name: 'a', content: 'x'.repeat(600) },
      { name: 'b', content: 'y' },
    ])
    for (let end = 128; end < 2_560; end += 128) {
      expect(await refusal(gzipSync(whole.subarray(0, end)))).toMatch(/too early|not a tar archive/)
    }
  })

  test('refuses damaged gzip data', async () => {
    const bytes = await tarball([{ name: 'a', content: randomBytes(5_000) }])
    bytes.fill(0xff, 600, 700)
    expect(await refusal(bytes)).toMatch(/damaged|too early/)
  })

  test('refuses a wrong checksum', async () => {
    const bytes = await tarball([{ name: 'a', content: 'abc' }])
    bytes[bytes.length - 6]! ^= 1
    expect(await refusal(bytes)).toContain('damaged')
  })

  test.each<[string, Item[], string]>([
    ['a path that leaves the root', [{ name: '../evil', content: 'x' }], '"../evil" leads out'],
    [
      'a path that leaves it further down',
      [{ name: 'a/../../evil', content: 'x' }],
      '"a/../../evil" leads out',
    ],
    ['an absolute path', [{ name: '/etc/passwd', content: 'x' }], '"/etc/passwd" has an absolute path'],
    [
      'an absolute link',
      [{ name: 'l', type: 'symlink', linkname: '/etc/passwd' }],
      '"l" is a link to "/etc/passwd"',
    ],
    [
      'a link out of the root',
      [{ name: 'a/l', type: 'symlink', linkname: '../../x' }],
      '"a/l" is a link to "../../x"',
    ],
    [
      'a hard link out of the root',
      [{ name: 'h', type: 'link', linkname: '../x' }],
      '"h" is a link to "../x"',
    ],
    [
      'an absolute hard link',
      [{ name: 'h', type: 'link', linkname: '/etc/shadow' }],
      '"h" is a link to "/etc/shadow"',
    ],
    ['a character device', [{ name: 'null', type: 'character-device' }], '"null" is a device'],
    ['a block device', [{ name: 'disk', type: 'block-device' }], '"disk" is a device'],
    ['a named pipe', [{ name: 'pipe', type: 'fifo' }], '"pipe" is a named pipe'],
    [
      'a file behind a link',
      [
        { name: 'd', type: 'directory' },
        { name: 'l', type: 'symlink', linkname: 'd' },
        { name: 'l/evil', content: 'x' },
      ],
      '"l/evil" is inside the link "l"',
    ],
    [
      'a hard link behind a link',
      [
        { name: 'l', type: 'symlink', linkname: 'd' },
        { name: 'h', type: 'link', linkname: 'l/x' },
      ],
      '"l/x" is inside the link "l"',
    ],
    ['a sparse file', [{ name: 'a', pax: { 'GNU.sparse.major': '1' }, content: 'x' }], '--sparse'],
    ['a name that is too long', [{ name: 'x'.repeat(300), content: 'x' }], 'too long'],
  ])('refuses %s', async (_name, items, said) => {
    expect(await refusal(await tarball([{ name: 'first', content: 'x' }, ...items]))).toContain(said)
  })

  test('accepts links that stay inside', async () => {
    const bytes = await tarball([
      { name: 'a/b', content: 'x' },
      { name: 'a/l', type: 'symlink', linkname: '../a/b' },
      { name: 'h', type: 'link', linkname: 'a/b' },
      { name: 'dangling', type: 'symlink', linkname: 'nowhere' },
    ])
    await expect(send(bytes)).resolves.toBeNull()
  })

  test('refuses a bomb before the upload ends', async () => {
    const gzip = createGzip()
    const archive = pack()
    const sink = archive.entry({ name: 'zeros', size: 1024 ** 3 })
    sink.on('error', () => {})
    archive.on('error', () => {})
    let written = 0
    const zeros = Buffer.alloc(1024 * 1024)
    const more = (): void => {
      while (written < 1024 && !sink.destroyed) {
        written += 1
        if (!sink.write(zeros)) return void sink.once('drain', more)
      }
    }
    more()
    const piped = archive.pipe(gzip as never) as unknown as Readable
    await expect(keepArchive({ path: target }, piped)).rejects.toThrow(/200 times its size/)
    archive.destroy(null)
    gzip.destroy()
    expect(written).toBeLessThan(200)
  })

  test('refuses more than 200,000 entries', async () => {
    const one = (await tar([{ name: 'f' }])).subarray(0, 512)
    // Pieces of random bytes keep the ratio below that of a bomb.
    const filler = (await tar([{ name: 'r', content: randomBytes(1024 * 1024) }])).subarray(
      0,
      512 + 1024 * 1024,
    )
    const gzip = createGzip({ level: 1 })
    Readable.from(
      (function* () {
        for (let count = 0; count < 201_000; count += 1_000)
          yield Buffer.concat(Array.from({ length: 1_000 }, () => one))
        yield filler
      })(),
    ).pipe(gzip)
    await expect(keepArchive({ path: target }, gzip)).rejects.toThrow(/more than 200000 entries/)
    gzip.destroy()
  })

  test('refuses more bytes than the limit with the code for that', async () => {
    const bytes = await tarball([{ name: 'a', content: randomBytes(50_000) }])
    const failed = receiveArchive(
      Readable.from([bytes.subarray(0, 20_000), bytes.subarray(20_000)]),
      target,
      30_000,
    )
    await expect(failed).rejects.toMatchObject({ code: 'payload_too_large' })
    expect(await readdir(directory)).toEqual([])
  })

  test('says that an upload broke off, and passes on what the owner of the stream threw', async () => {
    const broken = new PassThrough()
    const failed = receiveArchive(broken, target)
    broken.write((await tarball([{ name: 'a', content: 'x' }])).subarray(0, 20))
    broken.destroy(new Error('socket closed'))
    await expect(failed).rejects.toThrow('was interrupted')
    const limited = new PassThrough()
    const refused = receiveArchive(limited, target)
    limited.destroy(new AppError('payload_too_large', 'too much'))
    await expect(refused).rejects.toMatchObject({ code: 'payload_too_large' })
    expect(await readdir(directory)).toEqual([])
  })

  test('does not hold a large archive in memory', { timeout: 60_000 }, async () => {
    const piece = randomBytes(1024 * 1024)
    const size = 192 * piece.length
    const archive = pack()
    const sink = archive.entry({ name: 'large', size })
    let left = 192
    const more = (): void => {
      while (left > 0) {
        left -= 1
        if (!sink.write(piece)) return void sink.once('drain', more)
      }
      sink.end(null)
      archive.finalize()
    }
    more()
    const gzip = createGzip({ level: 0 })
    archive.pipe(gzip as never)
    let highest = 0
    const watch = setInterval(() => (highest = Math.max(highest, process.memoryUsage().arrayBuffers)), 5)
    const before = process.memoryUsage().arrayBuffers
    try {
      await receiveArchive(gzip, target)
      expect((await stat(target)).size).toBeGreaterThan(size)
    } finally {
      clearInterval(watch)
    }
    expect(highest - before).toBeLessThan(size / 2)
  })
})

describe('unpacking', () => {
  test('keeps files, folders, links and the executable bit, and drops set-user-id', async () => {
    const tree = await unpack([
      { name: './', type: 'directory', mode: 0o700 },
      { name: './bin/', type: 'directory', mode: 0o500 },
      { name: './bin/run', mode: 0o4755, content: '#!/bin/sh\n' },
      { name: './plain', mode: 0o644, content: 'x' },
      { name: './modeless', mode: 0, content: 'x' },
      { name: './link', type: 'symlink', linkname: 'bin/run' },
      { name: './hard', type: 'link', linkname: './plain' },
    ])
    expect((await readdir(tree)).toSorted()).toEqual(['bin', 'hard', 'link', 'modeless', 'plain'])
    expect((await stat(join(tree, 'bin/run'))).mode & 0o7777).toBe(0o755)
    expect((await stat(join(tree, 'bin'))).mode & 0o7777).toBe(0o700)
    expect((await stat(join(tree, 'modeless'))).mode & 0o7777).toBe(0o644)
    expect(await readlink(join(tree, 'link'))).toBe('bin/run')
    expect(await readFile(join(tree, 'hard'), 'utf8')).toBe('x')
    expect((await lstat(join(tree, 'plain'))).uid).toBe(process.getuid!())
  })

  test('names the files that are pointers of Git LFS', async () => {
    const pointer = `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 7\n`
    const items = [
      { name: 'model.bin', content: pointer },
      { name: 'README.md', content: `Begin with ${pointer}` },
      { name: 'empty', content: '' },
      { name: 'long.md', content: pointer + 'x'.repeat(1_000) },
      ...Array.from({ length: 30 }, (_, at) => ({ name: `images/${at}.png`, content: pointer })),
    ]
    await writeFile(target, await tarball(items))
    const pointers = await unpackArchive({ path: target, directory: join(directory, 'tree') })
    expect(pointers).toHaveLength(10)
    expect(pointers.slice(0, 2)).toEqual(['model.bin', 'images/0.png'])
  })

  test('uses a single folder as the tree, whatever macOS puts next to it', async () => {
    const tree = await unpack([
      { name: './._app', content: 'mac' },
      { name: '.DS_Store', content: 'mac' },
      { name: 'app/package.json', content: '{}' },
      { name: 'app/src/index.js', content: '' },
    ])
    expect((await readdir(tree)).toSorted()).toEqual(['package.json', 'src'])
    expect((await readdir(directory)).toSorted()).toEqual(['source.tar.gz', 'tree'])
  })

  test('uses a folder that contains a folder of its own name', async () => {
    const tree = await unpack([{ name: 'tree/tree/a', content: 'x' }])
    expect(await readdir(tree)).toEqual(['tree'])
    expect(await readdir(join(tree, 'tree'))).toEqual(['a'])
  })

  test('keeps the root if there is a file next to the folder', async () => {
    const tree = await unpack([
      { name: 'app/a', content: 'x' },
      { name: 'README', content: 'x' },
    ])
    expect((await readdir(tree)).toSorted()).toEqual(['README', 'app'])
  })

  test('lets the later entry of a name win, and never writes through a replaced link', async () => {
    await writeFile(join(directory, 'outside'), 'untouched')
    const tree = await unpack([
      { name: 'a', content: 'old' },
      { name: 'l', type: 'symlink', linkname: 'a' },
      { name: 'l', content: 'new' },
      { name: 'a', content: 'newer' },
    ])
    expect(await readFile(join(tree, 'l'), 'utf8')).toBe('new')
    expect(await readFile(join(tree, 'a'), 'utf8')).toBe('newer')
    expect((await lstat(join(tree, 'l'))).isFile()).toBe(true)
  })

  test.each<[string, Item[], string]>([
    ['escapes', [{ name: '../x', content: 'x' }], '"../x" leads out'],
    [
      'a missing target of a hard link',
      [{ name: 'h', type: 'link', linkname: 'gone' }],
      '"h" is a link to "gone"',
    ],
    [
      'a file where a folder was',
      [
        { name: 'a/b', content: '' },
        { name: 'a', content: '' },
      ],
      '"a" is both',
    ],
    [
      'a folder where a file was',
      [
        { name: 'a', content: '' },
        { name: 'a/b', content: '' },
      ],
      '"a" is both',
    ],
  ])('ends the build for %s', async (_name, items, said) => {
    await expect(unpack(items)).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringContaining(said),
    })
  })
})
