import { createHash, randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { dockerfilePathOf, packContext, readSeparateFiles, type BuildFile } from '#daemon/builds/context.ts'
import { never, openBench, tarOf, type Bench } from './engine-support.ts'

let bench: Bench
let directory: string
let builds = 0
beforeAll(async () => void (bench = await openBench()))
afterAll(() => bench.close())
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'ignored-'))))
afterEach(() => rm(directory, { recursive: true }))

async function write(files: Record<string, string | Buffer>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
}

/** Builds the folder as a deploy does, and returns the build's log. */
async function build(file: BuildFile = { kind: 'tree', path: 'Dockerfile', frontend: 2 }): Promise<string[]> {
  const lines: string[] = []
  const separate = await readSeparateFiles({ root: directory, file })
  const tar = new PassThrough()
  const packing = packContext({ root: directory, file, isSeparate: separate !== null }, tar)
  await bench.engine.images.build(tar, {
    tag: `${bench.serverId}:${++builds}`,
    dockerfile: dockerfilePathOf(file),
    ...(separate && { separate }),
    signal: never(),
    onLine: (line) => lines.push(line),
  })
  await packing
  return lines
}

/** A Dockerfile that copies everything and lists it. */
function listing(): string {
  return `FROM busybox:1\nCOPY . /app\nRUN echo ${bench.serverId} ${builds}; cd /app; find . ! -name . | sort\n`
}

describe('a Dockerfile that .dockerignore leaves out', () => {
  test('is not in the image, and a changed comment in it leaves the copied files cached', async () => {
    const Dockerfile = listing()
    await write({ Dockerfile, '.dockerignore': 'Dockerfile\n.dockerignore\nleft', a: 'x', left: 'x' })
    await write({ 'b/c': 'x' })
    const listed = (lines: string[]) => lines.filter((line) => line.startsWith('./'))
    expect(listed(await build())).toEqual(['./a', './b', './b/c'])
    await write({ Dockerfile: `# a comment\n${Dockerfile}` })
    const again = await build()
    expect(listed(again)).toEqual([])
    const copying = again.find((line) => line.includes('COPY . /app'))!.split(' ', 1)[0]!
    expect(again).toContain(`${copying} CACHED`)
  })

  test('may be in a folder, with an ignore file of its own', async () => {
    await write({
      'deploy/app.Dockerfile': listing(),
      'deploy/app.Dockerfile.dockerignore': 'deploy\nleft',
      '.dockerignore': 'a',
      a: 'x',
      left: 'x',
    })
    const lines = await build({ kind: 'tree', path: 'deploy/app.Dockerfile' })
    expect(lines.filter((line) => line.startsWith('./'))).toEqual(['./.dockerignore', './a'])
  })

  test('may copy .dockerignore alone', async () => {
    const Dockerfile = `FROM busybox:1\nCOPY .dockerignore /kept\nRUN echo ${bench.serverId}; cat /kept\n`
    await write({ Dockerfile, '.dockerignore': 'Dockerfile' })
    expect(await build()).toContain('Dockerfile')
  })

  test('leaves all other files as they are: sizes, modes, links and names', async () => {
    const names = ['\u{1f600}', '\uff5e', 'a b', 'a.b', 'a/b', `${'d'.repeat(120)}/${'ä'.repeat(90)}`, 'z\\']
    const sizes = [0, 1, 65_535, 65_536, 65_537, 300_000, 5_000_000]
    const contents = [
      ...names.map((name): [string, Buffer] => [name, randomBytes(10)]),
      ...sizes.map((size): [string, Buffer] => [`sizes/${size}`, randomBytes(size)]),
      ...Array.from({ length: 3_000 }, (_, index): [string, Buffer] => [`many/${index}`, randomBytes(999)]),
    ]
    await write(Object.fromEntries(contents))
    await writeFile(join(directory, 'run'), 'x', { mode: 0o750 })
    await symlink('/nowhere/at all', join(directory, 'link'))
    const sums = contents.map(
      ([name, bytes]) => `${createHash('sha256').update(bytes).digest('hex')}  ${name}`,
    )
    await write({ '.dockerignore': 'Dockerfile\n.dockerignore', sums: `${sums.join('\n')}\n` })
    const check = 'cd /app; sha256sum -sc sums && echo all right; stat -c "%a %u %g" run; readlink link'
    await write({ Dockerfile: `FROM busybox:1\nCOPY . /app\nRUN ${check}\n` })
    const lines = await build()
    expect(lines).toEqual(expect.arrayContaining(['all right', '750 0 0', '/nowhere/at all']))
  })
})

test('a Dockerfile from outside of the context is not in the image', async () => {
  await write({ a: 'x' })
  const lines = await build({
    kind: 'outside',
    path: 'x/Dockerfile',
    content: listing(),
    ignore: null,
    notes: [],
  })
  expect(lines.filter((line) => line.startsWith('./'))).toEqual(['./a'])
})

test('a context that breaks off ends the build', async () => {
  const tar = tarOf({ a: 'x' })
  const broken = new PassThrough()
  tar.once('data', (bytes: Buffer) => {
    broken.write(bytes)
    setTimeout(() => broken.destroy(new Error('the disk is gone')), 100)
  })
  const building = bench.engine.images.build(broken, {
    tag: `${bench.serverId}:broken`,
    dockerfile: 'Dockerfile',
    separate: { content: 'FROM busybox:1\nCOPY . /app\n', ignore: null },
    signal: never(),
    onLine: () => {},
  })
  await expect(building).rejects.toMatchObject({ message: expect.stringContaining('the disk is gone') })
})
