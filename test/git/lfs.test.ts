import { once } from 'node:events'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Checkout, CheckoutRequest } from '../../daemon/sources/git.ts'
import { parsePointer } from '../../daemon/sources/lfs-files.ts'
import { useBuiltReader } from '../support/reader.ts'
import { checkOut, failure } from './checkouts.ts'
import { LfsRemote } from './lfs-remote.ts'
import {
  ANYWHERE,
  git,
  PRIVATE_PASSWORD,
  PRIVATE_USER,
  Repository,
  startRemotes,
  type Remotes,
} from './remotes.ts'

let remotes: Remotes
let lfs: LfsRemote
let home: string
let count = 0
let lines: string[]

const ATTRIBUTES = '*.bin filter=lfs diff=lfs merge=lfs -text\n'

const credentials = () => ({ username: PRIVATE_USER, password: PRIVATE_PASSWORD, place: lfs.url })

beforeAll(useBuiltReader)
beforeAll(async () => {
  remotes = await startRemotes(['ssh'])
  lfs = await LfsRemote.start(remotes.directory)
})
afterAll(async () => {
  lfs.close()
  await remotes.close()
})
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'lfs-'))
  lines = []
  lfs.behaviour = {}
  lfs.asked.length = 0
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const repository = () => new Repository(remotes, `l${(count += 1)}`)
const name = (of: Repository) => of.bare.split('/').at(-1)!
const tree = () => join(home, 'tree')
const contentOf = (file: string) => readFileSync(join(tree(), file), 'utf8')
/** The address of every request about files, without those of git. */
const questions = () => lfs.asked.filter(({ what }) => what !== 'git')

function get(of: Repository, rest: Partial<CheckoutRequest> = {}): Promise<Checkout> {
  return checkOut(home, remotes, `${lfs.url}/${name(of)}`, { onLine: (line) => lines.push(line), ...rest })
}

describe('files in Git LFS', () => {
  test('are fetched in place of their pointers, each once, whatever their names', async () => {
    const source = repository()
    const large = 'large '.repeat(500_000)
    source.push({
      '.gitattributes': ATTRIBUTES,
      'a.bin': lfs.keep('one'),
      'deep/ä "quoted"\n.bin': lfs.keep('one'),
      'deep/large.bin': lfs.keep(large),
      'deep/empty.bin': lfs.keep(''),
      'plain.txt': lfs.keep('not filtered'),
      'no-pointer.bin': 'as it is',
    })
    git(source.work, 'update-index', '--chmod=+x', 'a.bin')
    symlinkSync('a.bin', join(source.work, 'link.bin'))
    source.push({})
    await get(source)
    expect(contentOf('a.bin')).toBe('one')
    expect(contentOf('deep/ä "quoted"\n.bin')).toBe('one')
    expect(contentOf('deep/large.bin')).toBe(large)
    expect(contentOf('deep/empty.bin')).toBe('')
    expect(contentOf('plain.txt')).toMatch(/^version https/)
    expect(contentOf('no-pointer.bin')).toBe('as it is')
    expect(readdirSync(tree())).not.toContain('.git')
    expect(lines).toEqual(['fetching 3 files from Git LFS'])
    expect(questions().filter(({ what }) => what === 'object')).toHaveLength(3)
  })

  test('are requested in hundreds', async () => {
    const source = repository()
    const files = Array.from(
      { length: 230 },
      (_, index) => [`${index}.bin`, lfs.keep(`file ${index}`)] as const,
    )
    source.push({ '.gitattributes': ATTRIBUTES, ...Object.fromEntries(files) })
    await get(source)
    expect(contentOf('229.bin')).toBe('file 229')
    expect(questions().filter(({ what }) => what === 'batch')).toHaveLength(3)
  })

  test('keep their permissions', async () => {
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'run.bin': lfs.keep('#!/bin/sh') })
    git(source.work, 'update-index', '--chmod=+x', 'run.bin')
    git(source.work, 'commit', '-q', '-m', 'x')
    git(source.work, 'push', '-q', 'origin', 'main')
    await get(source)
    expect(statSync(join(tree(), 'run.bin')).mode & 0o111).not.toBe(0)
  })

  test('are requested with the credentials of the repository', async () => {
    lfs.behaviour = { isPrivate: true }
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('secret') })
    await get(source, { credentials: credentials() })
    expect(contentOf('a.bin')).toBe('secret')
    const address = `${lfs.url.replace('://', `://${PRIVATE_USER}:pa%20ss%3A1@`)}/${name(source)}`
    await get(source, { url: address })
    expect(contentOf('a.bin')).toBe('secret')
  })

  test('are requested once more with another token if that of a connection is refused', async () => {
    lfs.behaviour = { isPrivate: true }
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('secret') })
    const refused: unknown[] = []
    const renewing = {
      ...credentials(),
      password: 'ended',
      renew: async (...of: unknown[]) => {
        refused.push(of)
        return PRIVATE_PASSWORD
      },
    }
    await get(source, { credentials: renewing, branch: 'main' })
    expect(contentOf('a.bin')).toBe('secret')
    expect(refused).toEqual([
      ['ended', 401],
      ['ended', 401],
    ])
    expect(questions().filter(({ what }) => what === 'batch')).toHaveLength(2)
    const spent = { ...renewing, renew: async () => 'ended too' }
    await expect(get(source, { credentials: spent })).rejects.toMatchObject(
      failure('refused the credentials'),
    )
  })

  test('are where .lfsconfig says, without the credentials of another host', async () => {
    const source = repository()
    const { port } = new URL(lfs.url)
    source.push({
      '.gitattributes': ATTRIBUTES,
      'a.bin': lfs.keep('elsewhere'),
      '.lfsconfig': `[lfs]\n\turl = http://localhost:${port}/some/lfs\n[include]\n\tpath = /etc/passwd\n`,
    })
    await get(source, { credentials: credentials() })
    expect(contentOf('a.bin')).toBe('elsewhere')
    const [batch] = questions()
    expect(batch).toMatchObject({ path: '/some/lfs/objects/batch', authorization: null })
  })

  test('are requested at the place that the host names over ssh', async () => {
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('by ssh') })
    // Its git-shell does not know such a command, like hosts without Git LFS.
    await expect(get(source, { url: `${remotes.ssh}/${name(source)}` })).rejects.toMatchObject(
      failure(/has no Git LFS over ssh|cannot be read/),
    )
  })

  test('are not written into the kept tree, nor found by the next one', async () => {
    const source = repository()
    const sameNow = lfs.keep('same')
    source.push({
      '.gitattributes': ATTRIBUTES,
      'a.bin': lfs.keep('first'),
      'b.bin': sameNow,
      'c.bin': sameNow,
    })
    await get(source)
    source.push({ 'a.bin': lfs.keep('second'), 'b.bin': 'in git now' })
    await get(source)
    expect(['a.bin', 'b.bin', 'c.bin'].map(contentOf)).toEqual(['second', 'in git now', 'same'])
    const kept = join(home, 'mirrors', readdirSync(join(home, 'mirrors'))[0]!, 'tree/files')
    expect(readFileSync(join(kept, 'a.bin'), 'utf8')).toMatch(/^version https/)
    expect(readFileSync(join(kept, 'c.bin'), 'utf8')).toMatch(/^version https/)
  })

  test('of a submodule are fetched from its own address, with the credentials of its host', async () => {
    lfs.behaviour = { isPrivate: true }
    const child = repository()
    child.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('of the submodule') })
    const parent = repository()
    git(parent.work, 'submodule', 'add', '-q', child.bare, 'child')
    git(parent.work, 'config', '-f', '.gitmodules', 'submodule.child.url', `../${name(child)}`)
    parent.push({ p: 'x' })
    await get(parent, { credentials: credentials() })
    expect(contentOf('child/a.bin')).toBe('of the submodule')
    expect(questions()[0]!.path).toBe(`/${name(child)}/info/lfs/objects/batch`)
    expect(lines).toEqual(['fetching the submodule child', 'fetching a file from Git LFS'])
  })

  test('may be behind redirects, which get no credentials', async () => {
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('stored') })
    const seen: (string | undefined)[] = []
    const store = createServer((request, response) => {
      seen.push(request.headers.authorization)
      response.end('stored')
    })
    await once(store.listen(0, '127.0.0.1'), 'listening')
    const location = `http://127.0.0.1:${(store.address() as AddressInfo).port}/bucket`
    lfs.behaviour = { onObject: (response) => void response.writeHead(302, { location }).end() }
    try {
      await get(source)
    } finally {
      store.close()
    }
    expect(contentOf('a.bin')).toBe('stored')
    expect(seen).toEqual([undefined])
  })
})

describe('a deploy fails and says what to do', () => {
  const oneFile = () => {
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('content') })
    return source
  }

  test.each<[string, LfsRemote['behaviour'], RegExp]>([
    ['refuses', { batchStatus: 403 }, /refused the credentials/],
    ['has none', { batchStatus: 404 }, /does not exist \(it answered 404\): keep the files in git itself/],
    ['has a fault', { batchStatus: 500 }, /answered 500: deploy again later/],
    ['answers HTML', { batchBody: '<html>' }, /does not answer like a Git LFS server/],
    [
      'returns more than was requested',
      { batchBody: JSON.stringify({ objects: Array(200_000).fill(0) }) },
      /does not answer like a Git LFS server/,
    ],
    ['answers without end', { batchBody: ' '.repeat(600_000) }, /does not answer like a Git LFS server/],
    [
      'answers without objects',
      { batchBody: '{"objects":[]}' },
      /does not have a\.bin .*it gives no download link/,
    ],
    ['leads to a file', { hrefOf: () => 'file:///etc/passwd' }, /gives an invalid download link for a\.bin/],
    [
      'sends less',
      { onObject: (response) => void response.end('cont') },
      /length that does not match its pointer/,
    ],
    [
      'sends more',
      { onObject: (response) => void response.end('content and more') },
      /length that does not match its pointer/,
    ],
    [
      'sends another',
      { onObject: (response) => void response.end('CONTENT') },
      /the content of the Git LFS file a\.bin does not match its pointer/,
    ],
    [
      'lacks the object',
      { onObject: (response) => void response.writeHead(404).end() },
      /answered 404 for a\.bin/,
    ],
    ['breaks off', { onObject: breakOff }, /cannot be reached/],
    [
      'leads in a circle',
      { onObject: (response) => void response.writeHead(302, { location: '/objects/x' }).end() },
      /redirects too often, or to an invalid URL/,
    ],
  ])('when its Git LFS %s', async (_what, behaviour, said) => {
    lfs.behaviour = behaviour
    await expect(get(oneFile())).rejects.toMatchObject(failure(said))
  })

  test('when an object was never pushed', async () => {
    const source = oneFile()
    source.push({ 'b.bin': lfs.keep('forgotten').replace(/oid sha256:../, 'oid sha256:00') })
    await expect(get(source)).rejects.toMatchObject(
      failure(/does not have b\.bin .*404 .*git lfs push --all/),
    )
  })

  test('if its files are too large together', async () => {
    const source = repository()
    source.push({ '.gitattributes': ATTRIBUTES, 'a.bin': lfs.keep('x').replace(/size 1/, 'size 9000000000') })
    await expect(get(source)).rejects.toMatchObject(failure('takes more than 2 GiB'))
    expect(questions()).toEqual([])
  })

  test.each([
    ['ssh://host/%2dx', /is at an unsupported URL/],
    ['file:///etc', /is at an unsupported URL/],
    ['http://169.254.169.254/lfs', /may not be reached/],
  ])('when .lfsconfig leads to %s', async (url, said) => {
    const source = oneFile()
    source.push({ '.lfsconfig': `[lfs]\n\turl = ${url}\n` })
    await expect(get(source)).rejects.toMatchObject(failure(said))
  })

  test('if an object or a redirect leads to a forbidden address', async () => {
    const source = oneFile()
    const metadata = 'http://169.254.169.254/latest'
    lfs.behaviour = { hrefOf: () => metadata }
    await expect(get(source)).rejects.toMatchObject(failure('may not be reached'))
    lfs.behaviour = { onObject: (response) => void response.writeHead(302, { location: metadata }).end() }
    await expect(get(source)).rejects.toMatchObject(failure('may not be reached'))
    const ownPort = Number(new URL(lfs.url).port)
    const elsewhere = { url: `${remotes.http}/${name(source)}`, reach: { ...ANYWHERE, ownPort } }
    source.push({ '.lfsconfig': `[lfs]\n\turl = http://localhost:${ownPort}/lfs\n` })
    await expect(get(source, elsewhere)).rejects.toMatchObject(failure('may not be reached'))
  })

  test('at once when it is canceled', async () => {
    const source = oneFile()
    const canceled = new AbortController()
    lfs.behaviour = { onObject: () => canceled.abort(new Error('canceled by the user')) }
    await expect(get(source, { signal: canceled.signal })).rejects.toThrow('canceled by the user')
  })

  function breakOff(response: ServerResponse): void {
    response.writeHead(200, { 'content-length': 7 })
    setTimeout(() => response.destroy(), 20)
  }
})

test('a pointer is read as the specification says, and nothing else as one', () => {
  const oid = 'a'.repeat(64)
  const version = 'version https://git-lfs.github.com/spec/v1'
  expect(parsePointer(`${version}\noid sha256:${oid}\nsize 12\n`)).toEqual({ oid, size: 12 })
  for (const text of [
    '',
    'x',
    `${version}\n`,
    `${version}\noid sha256:${oid}\n`,
    `${version}\noid sha256:../${oid}\nsize 1\n`,
    `${version}\noid sha256:${oid}\nsize -1\n`,
    `${version}\noid sha256:${oid}\nsize 99999999999999999999\n`,
    ` ${version}\noid sha256:${oid}\nsize 1\n`,
  ])
    expect(parsePointer(text)).toBeNull()
})
