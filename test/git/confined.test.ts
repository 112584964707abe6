import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { Checkout, CheckoutRequest } from '../../daemon/sources/git.ts'
import { useBuiltReader } from '../support/reader.ts'
import { checkOut, failure } from './checkouts.ts'
import { git, Repository, startRemotes, type Remotes } from './remotes.ts'

let remotes: Remotes
let home: string
let count = 0

beforeAll(useBuiltReader)
beforeAll(async () => void (remotes = await startRemotes(['git'])), 30_000)
afterAll(() => remotes.close())
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'confined-'))))
afterEach(() => rmSync(home, { recursive: true, force: true }))

const repository = (format?: 'sha256') => new Repository(remotes, `c${(count += 1)}`, format)
const name = (of: Repository) => of.bare.split('/').at(-1)!
const tree = () => join(home, 'tree')

/** What a hook that names `commit` leads to. */
function byHook(
  of: Repository,
  commit: string | null,
  rest: Partial<CheckoutRequest> = {},
): Promise<Checkout> {
  rmSync(tree(), { recursive: true, force: true })
  return checkOut(home, remotes, `${remotes.http}/${name(of)}`, { commit, confined: true, ...rest })
}

/** A commit in somebody's fork: the remote hands it out by its id and by the ref of a pull request. */
function propose(to: Repository): string {
  const parent = git(to.work, 'rev-parse', 'HEAD')
  const sha = git(to.work, 'commit-tree', '-p', parent, '-m', 'evil', `${parent}^{tree}`)
  git(to.work, 'push', '-q', 'origin', `${sha}:refs/pull/7/head`)
  return sha
}

describe('a commit of a fork', () => {
  test('cannot be reached by its ref, its id or the beginning of that', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const sha = propose(source)
    for (const branch of [null, 'main']) {
      for (const commit of [sha, sha.toUpperCase(), sha.slice(0, 9)])
        await expect(byHook(source, commit, { branch })).rejects.toMatchObject(
          failure(`the branch main of ${remotes.http}/${name(source)} does not contain the commit`),
        )
      for (const commit of ['refs/pull/7/head', 'pull/7/head'])
        await expect(byHook(source, commit, { branch })).rejects.toMatchObject(failure('has no commit'))
    }
    expect(existsSync(tree())).toBe(false)
  })

  test('is deployed by a trusted caller', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const sha = propose(source)
    for (const commit of [sha, 'refs/pull/7/head'])
      expect(await byHook(source, commit, { confined: false })).toMatchObject({ sha, message: 'evil' })
  })

  test('cannot be reached if the remote speaks only the first protocol', async () => {
    const source = repository()
    const old = source.push({ a: 'x' })
    source.push({ a: 'y' })
    const url = `${remotes.http}/old-protocol/${name(source)}`
    await expect(byHook(source, propose(source), { url })).rejects.toMatchObject(failure('does not contain'))
    expect(await byHook(source, old, { url })).toMatchObject({ sha: old })
  })
})

describe('a token that may only deploy', () => {
  const byToken = (of: Repository, commit: string, rest: Partial<CheckoutRequest> = {}) =>
    byHook(of, commit, { confined: 'branch', ...rest })

  test('deploys what the branch contains, by id or by a name for it, and nothing else', async () => {
    const source = repository()
    const old = source.push({ a: 'old' }, 'old')
    git(source.work, 'tag', '-a', 'v1', '-m', 'v1')
    const head = source.push({ a: 'new' }, 'new')
    const side = git(source.work, 'commit-tree', '-p', old, '-m', 'side', `${old}^{tree}`)
    git(source.work, 'push', '-q', 'origin', 'v1', `${side}:refs/heads/side`, `${side}:refs/tags/v2`)
    const fork = propose(source)
    for (const commit of [old.slice(0, 9), 'v1'])
      expect(await byToken(source, commit, { branch: 'main' })).toMatchObject({ sha: old, branch: 'main' })
    expect(await byToken(source, 'main')).toMatchObject({ sha: head, branch: 'main' })
    for (const commit of [side, 'side', 'v2', fork])
      await expect(byToken(source, commit, { branch: 'main' })).rejects.toMatchObject(
        failure('does not contain the commit'),
      )
    await expect(byToken(source, 'side')).rejects.toMatchObject(failure('does not contain the commit'))
  })
})

describe('a commit of the configured branch', () => {
  test.each(['http', 'git'] as const)('is deployed over %s, by full or short id', async (protocol) => {
    const source = repository()
    const old = source.push({ a: 'old' }, 'old')
    const head = source.push({ a: 'new' }, 'new')
    const url = `${remotes[protocol]}/${name(source)}`
    for (const branch of [null, 'main']) {
      expect(await byHook(source, head, { url, branch })).toMatchObject({ sha: head, branch: 'main' })
      expect(await byHook(source, old.slice(0, 8).toUpperCase(), { url, branch })).toMatchObject({
        sha: old,
        message: 'old',
        branch: 'main',
      })
      expect(readFileSync(join(tree(), 'a'), 'utf8')).toBe('old')
      expect(readdirSync(tree())).toEqual(['a'])
    }
  })

  test('needs no search if it is the last one', async () => {
    const source = repository()
    const head = source.push({ a: 'x' })
    const lines: string[] = []
    for (const branch of [null, 'main']) {
      const deployed = byHook(source, head, { branch, onLine: (line) => lines.push(line) })
      expect(await deployed).toMatchObject({ sha: head, branch: 'main' })
    }
    expect(lines).toEqual([])
  })

  test('is found behind many others', async () => {
    const source = repository()
    const old = source.push({ a: 'old' })
    const commits = Array.from(
      { length: 300 },
      (_, index) =>
        `commit refs/heads/main\ncommitter A <a@b> ${1_700_000_000 + index} +0000\ndata 1\nx\n${index === 0 ? `from ${old}\n` : ''}\n`,
    )
    execFileSync('git', ['-C', source.bare, 'fast-import', '--quiet'], { input: commits.join('') })
    expect(await byHook(source, old, { branch: 'main' })).toMatchObject({ sha: old })
  })

  test('may have an id of SHA-256', async () => {
    const source = repository('sha256')
    const old = source.push({ a: 'old' })
    source.push({ a: 'new' })
    for (const commit of [old, old.slice(0, 10)])
      expect(await byHook(source, commit, { branch: 'main' })).toMatchObject({ sha: old })
    await expect(byHook(source, 'a'.repeat(40), { branch: 'main' })).rejects.toMatchObject(
      failure('does not contain the commit'),
    )
  })

  test('no longer counts once the branch was rewritten without it', async () => {
    const source = repository()
    source.push({ a: '1' })
    const gone = source.push({ a: '2' })
    git(source.work, 'reset', '-q', '--hard', 'HEAD~1')
    source.push({ a: '3' })
    await expect(byHook(source, gone, { branch: 'main' })).rejects.toMatchObject(
      failure('the branch main of'),
    )
  })
})

describe('a commit of another branch', () => {
  test('is deployed by the name of the branch or of a tag, but not by its id', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const other = source.push({ a: 'y' }, 'other', 'feature/y')
    git(source.work, 'tag', '-a', '-m', 'release', 'v1')
    git(source.work, 'push', '-q', 'origin', 'v1')
    for (const commit of ['feature/y', 'refs/heads/feature/y', 'v1', 'refs/tags/v1'])
      expect(await byHook(source, commit, { branch: 'main' })).toMatchObject({ sha: other, branch: 'main' })
    for (const commit of [other, other.slice(0, 7)])
      await expect(byHook(source, commit, { branch: 'main' })).rejects.toMatchObject(
        failure('does not contain the commit'),
      )
  })
})

test.each(['lightweight', 'annotated'])(
  'of a %s tag, if it is followed, deploys its commits',
  async (kind) => {
    const source = repository()
    const first = source.push({ a: 'first' })
    const tagged = source.push({ a: 'tagged' })
    const after = source.push({ a: 'after' })
    git(source.work, 'tag', ...(kind === 'annotated' ? ['-a', '-m', 'x'] : []), 'v1', tagged)
    git(source.work, 'push', '-q', 'origin', 'v1')
    for (const commit of [null, tagged, first, git(source.work, 'rev-parse', 'v1')])
      expect(await byHook(source, commit, { branch: 'v1' })).toMatchObject({
        sha: commit === first ? first : tagged,
        branch: 'v1',
      })
    await expect(byHook(source, after, { branch: 'v1' })).rejects.toMatchObject(
      failure(/the tag v1 of .* does not contain the commit/),
    )
    // It is moved, and there is a branch of its name.
    git(source.work, 'tag', '-f', 'v1', after)
    git(source.work, 'push', '-q', '-f', 'origin', 'v1')
    expect(await byHook(source, null, { branch: 'v1' })).toMatchObject({ sha: after })
    git(source.work, 'push', '-q', 'origin', `${first}:refs/heads/v1`)
    expect(await byHook(source, null, { branch: 'v1' })).toMatchObject({ sha: first })
  },
)

test('a missing branch says which there are', async () => {
  const source = repository()
  const absent = 'a'.repeat(40)
  await expect(byHook(source, absent, { branch: 'gone' })).rejects.toMatchObject(failure('is empty'))
  await expect(byHook(source, absent)).rejects.toMatchObject(failure('is empty'))
  source.push({ a: 'x' })
  await expect(byHook(source, absent, { branch: 'gone' })).rejects.toMatchObject(
    failure('has no branch gone: set branch to one of its branches (main)'),
  )
  await expect(byHook(source, absent)).rejects.toMatchObject(failure('does not contain'))
})
