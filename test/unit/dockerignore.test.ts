import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { extract, type Header } from 'tar-stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { Tree } from '#plans/index.ts'
import {
  dockerfilePathOf,
  packContext,
  readContext,
  readSeparateFiles,
  type BuildFile,
} from '../../daemon/builds/context.ts'
import { Glob } from '../../server/text/glob.ts'
import { withoutSyntax } from '../../daemon/builds/syntax.ts'

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'context-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
}

interface Packed {
  headers: Map<string, Header>
  contents: Map<string, string>
  notes: string[]
  dockerfilePath: string
}

async function packed(file: BuildFile = { kind: 'tree', path: 'Dockerfile' }): Promise<Packed> {
  const { notes } = await readContext(new Tree(directory), file)
  const tar = new PassThrough()
  const packing = packContext({ root: directory, file }, tar)
  const headers = new Map<string, Header>()
  const contents = new Map<string, string>()
  const reading = extract()
  tar.pipe(reading)
  for await (const entry of reading) {
    const chunks: Buffer[] = []
    for await (const chunk of entry as AsyncIterable<Buffer>) chunks.push(chunk)
    headers.set(entry.header.name.replace(/\/$/, ''), entry.header)
    if (entry.header.type === 'file') contents.set(entry.header.name, Buffer.concat(chunks).toString())
  }
  await packing
  return { headers, contents, notes, dockerfilePath: dockerfilePathOf(file) }
}

/** The files of the tree that a `.dockerignore` leaves in, in addition to it and the Dockerfile. */
async function left(ignore: string, ...files: string[]): Promise<string[]> {
  await write({
    Dockerfile: 'FROM x',
    '.dockerignore': ignore,
    ...Object.fromEntries(files.map((name) => [name, name])),
  })
  const { contents } = await packed()
  return [...contents.keys()].filter((name) => name !== 'Dockerfile' && name !== '.dockerignore').toSorted()
}

describe('.dockerignore', () => {
  test.each<[string, string, string[], string[]]>([
    ['anchors patterns at the root', 'a', ['a', 'b/a'], ['b/a']],
    ['leaves out all of a folder', 'node_modules', ['node_modules/x/y', 'z'], ['z']],
    ['takes a trailing slash and a leading one', '/dist/\n', ['dist/x', 'src/dist/x'], ['src/dist/x']],
    ['keeps * within a folder', '*.md', ['a.md', 'b/a.md'], ['b/a.md']],
    ['spans folders with **', '**/*.md', ['a.md', 'b/a.md', 'b/c/d.md', 'b/x'], ['b/x']],
    ['spans folders in the middle', 'a/**/z', ['a/z', 'a/b/z', 'a/b/c/z', 'z'], ['z']],
    ['leaves out all with a trailing **', 'a/**', ['a/b', 'a/c/d', 'b'], ['b']],
    [
      'puts back what an exception names',
      '*\n!src',
      ['src/a', 'src/b/c', 'other', 'x/src'],
      ['src/a', 'src/b/c'],
    ],
    [
      'puts back a file inside a folder left out',
      'docs\n!docs/keep.md',
      ['docs/keep.md', 'docs/x.md'],
      ['docs/keep.md'],
    ],
    [
      'lets the last match decide',
      '*.md\n!README*.md\nREADME-secret.md',
      ['a.md', 'README.md', 'README-secret.md'],
      ['README.md'],
    ],
    ['puts back with ** what is deep down', 'a\n!a/**/keep', ['a/x/y/keep', 'a/x/y/z'], ['a/x/y/keep']],
    ['ignores comments, blank lines and spaces', '# a\n\n  b  \r\n', ['a', 'b'], ['a']],
    ['cleans paths', './a/../b', ['a/x', 'b'], ['a/x']],
    ['matches one character with ?', 'a?', ['a', 'ab', 'abc'], ['a', 'abc']],
    ['matches classes', '[a-c]x\n[^a-c]y', ['ax', 'dx', 'ay', 'dy'], ['ay', 'dx']],
    [
      'treats signs of regular expressions as plain text',
      'c++\n(x)\n{y}\na|b\n$z',
      ['c++', '(x)', '{y}', 'a|b', '$z', 'cc'],
      ['cc'],
    ],
    ['escapes with a backslash', '\\*x', ['*x', 'ax'], ['ax']],
    ['tells letter cases apart', 'readme', ['README', 'readme'], ['README']],
    ['takes names of object properties', 'constructor', ['constructor', 'toString'], ['toString']],
    ['reads past a byte order mark', '\ufeffa', ['a', 'b'], ['b']],
  ])('%s', async (_title, ignore, files, expected) => {
    expect(await left(ignore, ...files)).toEqual(expected)
  })

  test('ends the build for a pattern that cannot be read', async () => {
    await write({ Dockerfile: 'FROM x', '.dockerignore': 'a[' })
    await expect(packed()).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringContaining('"a["'),
    })
  })

  test('gives way to the ignore file of the Dockerfile', async () => {
    await write({
      'deploy/app.Dockerfile': 'FROM x',
      'deploy/app.Dockerfile.dockerignore': 'a',
      '.dockerignore': 'b',
      a: '',
      b: '',
    })
    const { headers, notes } = await packed({ kind: 'tree', path: 'deploy/app.Dockerfile' })
    expect(headers.has('a')).toBe(false)
    expect(headers.has('b')).toBe(true)
    expect(notes).toEqual(['leaving out the files that deploy/app.Dockerfile.dockerignore lists'])
  })
})

describe('the build context', () => {
  test("contains a Dockerfile from outside of it, and leaves out what that one's ignore file names", async () => {
    await write({ '.dockerignore': 'b', a: '', b: '' })
    const outside = (ignore: string | null) =>
      packed({ kind: 'outside', path: 'docker/Dockerfile', content: 'FROM x', ignore, notes: [] })
    const own = await outside('a')
    expect([...own.headers.keys()].toSorted()).toEqual(['.deployer.Dockerfile', '.dockerignore', 'b'])
    expect(own.contents.get(own.dockerfilePath)).toBe('FROM x')
    const without = await outside(null)
    expect([...without.headers.keys()].toSorted()).toEqual(['.deployer.Dockerfile', '.dockerignore', 'a'])
  })

  test('keeps the Dockerfile although it is ignored', async () => {
    await write({ Dockerfile: 'FROM x', '.dockerignore': '*\n', a: '' })
    const { contents } = await packed()
    expect([...contents]).toEqual([['Dockerfile', 'FROM x']])
  })

  test.each([
    ['FROM x', null, 'Dockerfile\n.dockerignore'],
    ['FROM x', '*\n!.dockerignore', '*\n!.dockerignore'],
    [null, null, 'Dockerfile\n!Dockerfile'],
    [null, null, 'a'],
  ])(
    'is sent without a Dockerfile (%j) that is ignored, and with the patterns %j',
    async (content, ignore, patterns) => {
      await write({ Dockerfile: 'FROM x', '.dockerignore': patterns })
      const file: BuildFile = { kind: 'tree', path: 'Dockerfile' }
      const separate = await readSeparateFiles({ root: directory, file })
      expect(separate).toEqual(content === null ? null : { content, ignore })
    },
  )

  test('is sent without an ignored Dockerfile in a folder', async () => {
    await write({ 'a/b/Dockerfile': 'FROM x', '.dockerignore': 'a' })
    const file: BuildFile = { kind: 'tree', path: 'a/b/Dockerfile' }
    expect(await readSeparateFiles({ root: directory, file })).toEqual({ content: 'FROM x', ignore: 'a' })
  })

  test('keeps links, modes and long names, and makes everything owned by root', async () => {
    const long = `${'d'.repeat(120)}/${'ä'.repeat(90)}`
    await write({ Dockerfile: 'FROM x', [long]: 'x', run: '' })
    await writeFile(join(directory, 'run'), '', { mode: 0o755 })
    await rm(join(directory, 'run'))
    await writeFile(join(directory, 'run'), 'x', { mode: 0o755 })
    await symlink('/etc/passwd', join(directory, 'outside'))
    const { headers, contents } = await packed()
    expect(headers.get('outside')).toMatchObject({ type: 'symlink', linkname: '/etc/passwd' })
    expect(headers.get('run')).toMatchObject({ mode: 0o755, uid: 0, gid: 0 })
    expect(contents.get(long)).toBe('x')
  })

  test('streams files of any size', async () => {
    await write({ Dockerfile: 'FROM x', large: 'y'.repeat(3_000_001), small: '' })
    const { contents } = await packed()
    expect(contents.get('large')).toHaveLength(3_000_001)
    expect(contents.get('small')).toBe('')
  })

  test("keeps the line ends of Cargo's vendored crates, since Cargo compares their checksums", async () => {
    const script = '#!/bin/sh\r\necho\r\n'
    await write({
      Dockerfile: 'FROM x',
      'run.sh': script,
      'vendor/run.sh': script,
      'vendor/a/.cargo-checksum.json': '{}',
      'vendor/a/-.sh': script,
      'vendor/a/ci/run.sh': script,
    })
    const { contents } = await packed()
    const kept = [...contents].filter(([, text]) => text === script).map(([name]) => name)
    expect(kept.toSorted()).toEqual(['vendor/a/-.sh', 'vendor/a/ci/run.sh'])
  })

  test('puts the tree of a plan next to the Dockerfile that the plan wrote', async () => {
    await write({ Dockerfile: 'FROM theirs', 'a/b': 'x', 'node_modules/m/x': 'x' })
    const { contents, dockerfilePath } = await packed({
      kind: 'plan',
      content: 'FROM ours',
      ignore: ['**/node_modules'],
      manifests: { 'a/package.json': '{}' },
    })
    expect(dockerfilePath).toBe('Dockerfile')
    expect(Object.fromEntries(contents)).toEqual({
      Dockerfile: 'FROM ours',
      'build-step': expect.stringContaining('/run/secrets/'),
      'manifests/a/package.json': '{}',
      'source/Dockerfile': 'FROM theirs',
      'source/a/b': 'x',
    })
  })

  test.each<[string, Record<string, string>, string]>([
    ['missing', { other: '' }, 'there is no file Dockerfile'],
    ['empty', { Dockerfile: ' \n' }, 'Dockerfile is empty'],
    ['a folder', { 'Dockerfile/x': '' }, 'there is no file Dockerfile'],
    ['no text', { Dockerfile: 'FROM x\0' }, 'not a text file'],
  ])('ends the build when the Dockerfile is %s', async (_title, files, said) => {
    await write(files)
    await expect(packed()).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringContaining(said),
    })
  })

  test('does not follow a Dockerfile out of the tree', async () => {
    await symlink('/etc/hostname', join(directory, 'Dockerfile'))
    await expect(packed()).rejects.toThrow('there is no file Dockerfile')
    await expect(packed({ kind: 'tree', path: '../../../etc/hostname' })).rejects.toThrow('there is no file')
  })
})

describe('a syntax line', () => {
  test('that names the standard frontend is removed and the lines keep their numbers', () => {
    const { content, notes } = withoutSyntax(
      '# syntax=docker/dockerfile:1.7\n# escape=`\nFROM x\n',
      'Dockerfile',
      2,
    )
    expect(content).toBe('# escape=`\n#\nFROM x\n')
    expect(notes).toEqual([
      'using the engine\'s own Dockerfile frontend (1.2) instead of "# syntax=docker/dockerfile:1.7" in Dockerfile',
    ])
  })

  test.each([
    [2, 4, 'COPY <<EOF /file\ntext\nEOF'],
    [2, 4, 'RUN --mount=type=cache,target=/x <<-"END" sh'],
    [2, 4, 'copy --from=a --link /b /b'],
    [4, 6, 'ADD --checksum=sha256:24454 https://example.com/file /'],
    [6, 7, 'ENV VERSION=${TAG#v}'],
    [8, 10, 'RUN --mount=type=secret,id=TOKEN,env=TOKEN npm ci'],
    [8, 14, 'COPY --chmod=u=rwX,go=rX . .'],
    [14, 19, 'COPY --exclude=*.md . .'],
    [19, 20, 'COPY --parents a/b c/d .'],
  ])("stays if the engine's frontend, 1.%i, is older than the 1.%i of %j", (built, since, line) => {
    const content = `# syntax=docker/dockerfile:1\nFROM x\n${line}\n`
    expect(withoutSyntax(content, 'Dockerfile', built)).toEqual({
      content,
      notes: [
        `keeping "# syntax=docker/dockerfile:1" in Dockerfile: the file uses features that the engine's own Dockerfile frontend (1.${built}) lacks`,
      ],
    })
    const newer = withoutSyntax(content, 'Dockerfile', since)
    expect(newer.notes).toEqual([expect.stringContaining(`(1.${since}) instead of`)])
  })

  test('is removed if only a shell reads what looks like more', () => {
    const content =
      '# syntax=docker/dockerfile:1\nFROM x\nRUN echo ${TAG#v} $((1<<x)) --link\nCOPY --chmod=755 a b\n'
    expect(withoutSyntax(content, 'Dockerfile', 2).notes).toEqual([
      expect.stringContaining('(1.2) instead of'),
    ])
  })

  test.each([
    '# syntax=docker/dockerfile:1-labs\nFROM x',
    '# syntax=example/frontend:1\nFROM x',
    'FROM x\n# syntax=docker/dockerfile:1\n',
    '# a comment\n# syntax=docker/dockerfile:1\nFROM x',
    'FROM x',
  ])('stays in %j', (content) => {
    expect(withoutSyntax(content, 'Dockerfile', 2)).toEqual({ content, notes: [] })
  })
})

test('a pattern with many stars is matched at once, whatever the name', () => {
  const stars = new Glob(`${'*a'.repeat(60)}*b`)
  const name = 'a'.repeat(250)
  expect([stars.test(name), stars.test(`${name}b`)]).toEqual([false, true])
  const deep = new Glob(`${'**/a/'.repeat(40)}**/b`)
  const path = Array.from({ length: 60 }, () => 'a').join('/')
  expect([deep.test(path), deep.test(`${path}/b`), deep.test(`${path}/x/b`)]).toEqual([false, true, true])
})
