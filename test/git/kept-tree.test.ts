import {
  appendFileSync,
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { withReader, type Reader } from '../../daemon/reader/reader.ts'
import type { CheckoutRequest } from '../../daemon/sources/git.ts'
import { trimMirrors } from '../../daemon/sources/mirrors.ts'
import { useBuiltReader } from '../support/reader.ts'
import { checkOut } from './checkouts.ts'
import { git, Repository, startRemotes, type Remotes } from './remotes.ts'

let remotes: Remotes
/** Where a test works, and what is removed after it. */
let home: string
let own: string
let count = 0
let lines: string[]

beforeAll(useBuiltReader)
beforeAll(async () => void (remotes = await startRemotes()), 30_000)
afterAll(() => remotes.close())
beforeEach(() => {
  home = own = mkdtempSync(join(tmpdir(), 'kept-'))
  lines = []
})
afterEach(() => rmSync(own, { recursive: true, force: true }))

const repository = () => new Repository(remotes, `k${(count += 1)}`)
const tree = (at = 'tree') => join(home, at)
const mirrors = () => join(home, 'mirrors')
/** A file of the only mirror. */
const inMirror = (path: string) => join(mirrors(), readdirSync(mirrors())[0]!, path)
const inode = (path: string) => statSync(path).ino

async function layOut(of: Repository, at: string, rest: Partial<CheckoutRequest> = {}): Promise<void> {
  const url = `${remotes.http}/${of.bare.split('/').at(-1)!}`
  await checkOut(home, remotes, url, { directory: tree(at), onLine: (line) => lines.push(line), ...rest })
}

async function get(of: Repository, at = 'tree'): Promise<Record<string, string>> {
  await layOut(of, at)
  return contentOf(tree(at))
}

/** Everything in a folder: the content of files and whether they are executable, where links lead. */
function contentOf(folder: string): Record<string, string> {
  const found = readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) => {
    const path = join(entry.parentPath, entry.name)
    const name = path.slice(folder.length + 1)
    if (entry.isDirectory()) return [`${name}/`, '']
    if (entry.isSymbolicLink()) return [name, `-> ${readlinkSync(path)}`]
    const isProgram = (lstatSync(path).mode & 0o111) !== 0
    return [name, `${isProgram ? 'runs ' : ''}${readFileSync(path, 'utf8')}`]
  })
  return Object.fromEntries(found) as Record<string, string>
}

describe('the next tree of a repository', () => {
  test('shares the unchanged files with the previous one', async () => {
    const source = repository()
    source.push({ 'a/same': 'same', changed: 'before' })
    await get(source, 'one')
    source.push({ changed: 'after' })
    expect(await get(source, 'two')).toEqual({ 'a/': '', 'a/same': 'same', changed: 'after' })
    expect(inode(tree('two/a/same'))).toBe(inode(tree('one/a/same')))
    expect(readFileSync(tree('one/changed'), 'utf8')).toBe('before')
  })

  test('has its kinds, its permissions and nothing of the previous one, as if it were the first', async () => {
    const source = repository()
    const at = (path: string) => join(source.work, path)
    source.push({
      'gone/deep/file': 'x',
      'becomes-folder': 'x',
      'becomes-file/in': 'x',
      program: 'x',
      turns: 'x',
    })
    symlinkSync('program', at('link'))
    symlinkSync('/etc', at('link-becomes-folder'))
    source.push({})
    await get(source)
    for (const path of ['gone', 'becomes-folder', 'becomes-file', 'link', 'link-becomes-folder', 'turns'])
      rmSync(at(path), { recursive: true })
    chmodSync(at('program'), 0o755)
    symlinkSync('../outside', at('link'))
    symlinkSync('program', at('turns'))
    source.push({ 'becomes-folder/in': 'y', 'becomes-file': 'y', 'link-becomes-folder/passwd': 'y' })
    const expected = {
      'becomes-folder/': '',
      'becomes-folder/in': 'y',
      'becomes-file': 'y',
      'link-becomes-folder/': '',
      'link-becomes-folder/passwd': 'y',
      link: '-> ../outside',
      program: 'runs x',
      turns: '-> program',
    }
    expect(await get(source)).toEqual(expected)
    rmSync(mirrors(), { recursive: true })
    expect(await get(source)).toEqual(expected)
  })

  test('follows its own attributes, even if a file itself is the same', async () => {
    const source = repository()
    source.push({ text: 'one\ntwo\n' })
    await get(source)
    source.push({ '.gitattributes': '* text eol=crlf\n' })
    expect(await get(source)).toMatchObject({ text: 'one\r\ntwo\r\n' })
    rmSync(join(source.work, '.gitattributes'))
    source.push({})
    expect(await get(source)).toEqual({ text: 'one\ntwo\n' })
    symlinkSync('* text eol=crlf', join(source.work, '.gitattributes'))
    source.push({})
    const anew = { text: 'one\r\ntwo\r\n', '.gitattributes': '-> * text eol=crlf' }
    expect(await get(source)).toEqual(anew)
    rmSync(mirrors(), { recursive: true })
    expect(await get(source)).toEqual(anew)
  })

  test('has files whose names are not UTF-8', async () => {
    const source = repository()
    const name = Buffer.from([0x61, 0xff, 0xfe])
    writeFileSync(Buffer.concat([Buffer.from(`${source.work}/`), name]), 'x')
    source.push({ b: 'y' })
    for (const at of ['one', 'two']) {
      await layOut(source, at)
      expect(readdirSync(tree(at), { encoding: 'buffer' })).toContainEqual(name)
    }
  })

  test('is only accessible to its owner', async () => {
    const source = repository()
    source.push({ a: 'x' })
    await get(source)
    for (const path of [tree(), inMirror(''), inMirror('tree')]) expect(statSync(path).mode & 0o077).toBe(0)
  })
})

describe('a kept tree', () => {
  const files = (path: string) => inMirror(`tree/files/${path}`)
  let itsHome: string
  let source: Repository

  beforeAll(async () => {
    home = itsHome = mkdtempSync(join(tmpdir(), 'kept-'))
    source = repository()
    source.push({ 'a/deep': 'deep', b: 'first' })
    await get(source)
  })
  afterAll(() => rmSync(itsHome, { recursive: true, force: true }))

  test.each<[string, () => void]>([
    ['one wrote through a tree that shares its files', () => appendFileSync(tree('tree/b'), 'more')],
    ['a file was written to', () => appendFileSync(files('a/deep'), 'more')],
    ['a file lost its end', () => truncateSync(files('b'), 1)],
    ['a file is gone', () => rmSync(files('a'), { recursive: true })],
    ['a file came', () => writeFileSync(files('a/stray'), 'x')],
    ['a file became a program', () => chmodSync(files('b'), 0o755)],
    ['a folder became a link', () => replaceByLink(files('a'))],
    ["git's index of it is broken", () => writeFileSync(inMirror('tree/index'), 'DIRC nonsense')],
    ["git's index of it is gone", () => rmSync(inMirror('tree/index'))],
    ['what is known of it is gone', () => rmSync(inMirror('tree/facts.json'))],
    ['what is known of it is nonsense', () => writeFileSync(inMirror('tree/facts.json'), '[1,')],
    ['the host was started since', () => ofAnotherRun()],
    ['another version of git or of the server wrote it', () => ofAnotherWriter()],
    ['it is a file', () => replaceByFile(inMirror('tree'))],
    ['its writing was cut off', () => cutOff()],
  ])('is repaired when %s', async (_what, damage) => {
    home = itsHome
    damage()
    source.push({ c: String(count++) })
    expect(await get(source)).toEqual({
      'a/': '',
      'a/deep': 'deep',
      b: 'first',
      c: expect.any(String) as string,
    })
    const before = inode(tree('tree/b'))
    expect(statSync(tree('tree/b')).mode).toBe(statSync(tree('tree/c')).mode)
    await get(source, 'next')
    expect(inode(tree('next/b'))).toBe(before)
    expect(existsSync(inMirror('tree.writing'))).toBe(false)
  })

  function replaceByLink(folder: string): void {
    const outside = join(own, 'outside')
    mkdirSync(outside)
    writeFileSync(join(outside, 'deep'), 'outside')
    rmSync(folder, { recursive: true })
    symlinkSync(outside, folder)
  }

  function ofAnotherWriter(): void {
    const facts = JSON.parse(readFileSync(inMirror('tree/facts.json'), 'utf8')) as object
    writeFileSync(inMirror('tree/facts.json'), JSON.stringify({ ...facts, writer: 'another' }))
    // git checks no permission except execution.
    chmodSync(files('b'), 0o600)
  }

  function replaceByFile(folder: string): void {
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
  }

  function ofAnotherRun(): void {
    const facts = JSON.parse(readFileSync(inMirror('tree/facts.json'), 'utf8')) as object
    writeFileSync(inMirror('tree/facts.json'), JSON.stringify({ ...facts, run: 'another' }))
    // What never reached the disk may look as it should.
    const { atime, mtime } = statSync(files('b'))
    writeFileSync(files('b'), '\0\0\0\0\0')
    utimesSync(files('b'), atime, mtime)
  }

  /** As by a crash while git writes: a file of a commit that is no longer deployed, unknown to the index. */
  function cutOff(): void {
    renameSync(inMirror('tree'), inMirror('tree.writing'))
    writeFileSync(inMirror('tree.writing/files/secret'), 'x')
  }

  test('is repaired if it cannot be read', async () => {
    home = itsHome
    source.push({ c: String(count++) })
    await withReader(undefined, async (reader) => {
      let isFaulty = true
      const ask: Reader['ask'] = (job, input) => {
        if (job.name !== 'link-tree' || !isFaulty) return reader.ask(job, input)
        isFaulty = false
        return Promise.reject(Object.assign(new Error('EIO: i/o error, link'), { code: 'EIO' }))
      }
      await layOut(source, 'tree', { reader: { ask } as Reader })
      expect(isFaulty).toBe(false)
    })
    expect(contentOf(tree())).toMatchObject({ b: 'first' })
  })

  test('is written again on request', async () => {
    home = itsHome
    await get(source)
    const before = inode(tree('tree/b'))
    chmodSync(files('b'), 0o600)
    await layOut(source, 'tree', { usesKeptTrees: false })
    expect(inode(tree('tree/b'))).not.toBe(before)
    expect(statSync(tree('tree/b')).mode & 0o777).toBe(0o666 & ~process.umask())
  })

  test('is removed before the mirrors if they take too much, but not that of the last deploy', async () => {
    const [first, second] = [repository(), repository()]
    for (const source of [first, second]) {
      source.push({ a: 'x' })
      await get(source)
    }
    const all = () => readdirSync(mirrors()).map((name) => join(mirrors(), name))
    const byUse = all().toSorted((one, other) => statSync(one).mtimeMs - statSync(other).mtimeMs)
    const facts = join(byUse[0]!, 'tree/facts.json')
    const known = JSON.parse(readFileSync(facts, 'utf8')) as object
    writeFileSync(facts, JSON.stringify({ ...known, bytes: 2 ** 40 }))
    await trimMirrors(mirrors())
    expect(all()).toHaveLength(2)
    expect(byUse.map((mirror) => existsSync(join(mirror, 'tree')))).toEqual([false, true])
    expect(await get(first)).toEqual({ a: 'x' })
    expect(lines).toEqual([])
  })

  test('is removed with the other mirrors if it was written incompletely, or nothing is known about it', async () => {
    const [first, second, third] = [repository(), repository(), repository()]
    const found: string[] = []
    for (const source of [first, second, third]) {
      source.push({ a: 'x' })
      await get(source)
      found.push(...readdirSync(mirrors()).filter((name) => !found.includes(name)))
    }
    const at = (index: number, path: string) => join(mirrors(), found[index]!, path)
    renameSync(at(0, 'tree'), at(0, 'tree.writing'))
    writeFileSync(at(1, 'tree/facts.json'), '')
    await trimMirrors(mirrors())
    expect(
      found.map((_name, index) => readdirSync(at(index, '')).filter((name) => name.startsWith('tree'))),
    ).toEqual([[], [], ['tree']])
    expect(readdirSync(mirrors()).toSorted()).toEqual(found.toSorted())
  })
})

describe('submodules', () => {
  /** A repository with a submodule at that path, with that address. */
  function parentOf(child: Repository, path: string, url: string): Repository {
    const parent = repository()
    git(parent.work, 'submodule', 'add', '-q', '--name', 'child', child.bare, path)
    git(parent.work, 'config', '-f', '.gitmodules', 'submodule.child.url', url)
    parent.push({ p: 'x' })
    return parent
  }

  const nameOf = (of: Repository) => of.bare.split('/').at(-1)!

  test('have their own mirrors: the second time only changes are fetched', async () => {
    const child = repository()
    child.push({ c: 'one', same: 'same' })
    const parent = parentOf(child, 'libs/child', `../${nameOf(child)}`)
    const expected = (c: string) => ({
      '.gitmodules': expect.any(String) as string,
      'libs/': '',
      'libs/child/': '',
      'libs/child/c': c,
      'libs/child/same': 'same',
      p: 'x',
    })
    expect(await get(parent, 'one')).toEqual(expected('one'))
    expect(readdirSync(mirrors())).toHaveLength(2)
    const inOne = inode(tree('one/libs/child/same'))
    child.push({ c: 'two' })
    git(join(parent.work, 'libs/child'), 'fetch', '-q', 'origin')
    git(join(parent.work, 'libs/child'), 'checkout', '-q', 'FETCH_HEAD')
    parent.push({})
    expect(await get(parent, 'two')).toEqual(expected('two'))
    expect(inode(tree('two/libs/child/same'))).toBe(inOne)
    expect(lines).toEqual(['fetching the submodule libs/child', 'fetching the submodule libs/child'])
    expect(await get(child, 'alone')).toEqual({ c: 'two', same: 'same' })
    expect(readdirSync(mirrors())).toHaveLength(2)
  })

  test('that were removed leave nothing behind, nor those that are not to be fetched', async () => {
    const child = repository()
    child.push({ c: 'x' })
    const parent = parentOf(child, 'child', `../${nameOf(child)}`)
    await get(parent)
    git(parent.work, 'config', '-f', '.gitmodules', 'submodule.child.update', 'none')
    parent.push({})
    expect(Object.keys(await get(parent)).toSorted()).toEqual(['.gitmodules', 'child/', 'p'])
    git(parent.work, 'rm', '-q', '-f', 'child')
    parent.push({ 'child/own': 'x' })
    expect(Object.keys(await get(parent)).toSorted()).toEqual(['.gitmodules', 'child/', 'child/own', 'p'])
  })

  test.each([
    ['[submodule "child"\n', /\.gitmodules cannot be read at line 2: fix it/],
    [
      '[submodule "child"]\n\tpath = child\n',
      /the submodule child cannot be fetched \(\.gitmodules has no URL/,
    ],
    [
      '[submodule "child"]\n\tpath = child\n\turl = ../../../../x\n',
      /from \.\.\/\.\.\/\.\.\/\.\.\/x \(its address must be/,
    ],
  ])('whose file says %j fail with what to do', async (content, said) => {
    const child = repository()
    child.push({ c: 'x' })
    const parent = parentOf(child, 'child', '../x')
    parent.push({ '.gitmodules': content })
    await expect(get(parent)).rejects.toThrow(said)
    expect(lines.filter((line) => line.includes('mirror'))).toEqual([])
  })
})
