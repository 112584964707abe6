import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { restAfter } from '../../daemon/sources/directory-size.ts'
import type { Checkout } from '../../daemon/sources/git.ts'
import { withGit } from '../../daemon/sources/git-command.ts'
import { GitError } from '../../daemon/sources/git-error.ts'
import { removeTree } from '../../daemon/sources/remove-tree.ts'
import { childrenOf, isAlive, readersOf } from '../support/processes.ts'
import { useBuiltReader } from '../support/reader.ts'
import { waitFor } from '../support/wait.ts'
import { checkOut, failure } from './checkouts.ts'
import { git, PRIVATE_PASSWORD, PRIVATE_USER, Repository, startRemotes, type Remotes } from './remotes.ts'

let remotes: Remotes
let home: string
let count = 0

beforeAll(useBuiltReader)
beforeAll(async () => void (remotes = await startRemotes()), 30_000)
afterAll(() => remotes.close())
beforeEach(() => void (home = mkdtempSync(join(tmpdir(), 'hostile-'))))
afterEach(() => rmSync(home, { recursive: true, force: true }))

const repository = () => new Repository(remotes, `h${(count += 1)}`)
const name = (of: Repository) => of.bare.split('/').at(-1)!
const tree = () => join(home, 'tree')

function get(of: Repository): Promise<Checkout> {
  return checkOut(home, remotes, `${remotes.http}/${name(of)}`)
}

/** A repository with a submodule `inner` at that address. */
function withSubmodule(url: string, of: Repository = repository()): Repository {
  of.push({ a: 'x' })
  const outer = repository()
  git(outer.work, 'submodule', 'add', '-q', of.bare, 'inner')
  git(outer.work, 'config', '-f', '.gitmodules', 'submodule.inner.url', url)
  outer.push({ o: 'x' })
  return outer
}

/** Makes git run a program, as it runs those that speak to remotes. */
function through(program: string): Promise<string> {
  return withGit(new AbortController().signal, (git) =>
    git.run({
      arguments: ['-c', `alias.through=!exec '${process.execPath}' -e '${program}'`, 'through'],
      environment: {},
    }),
  )
}

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}

describe('a repository', () => {
  test('with an endless name in it is refused before the name is stored', async () => {
    const source = repository()
    const blob = execFileSync('git', ['-C', source.work, 'hash-object', '-w', '--stdin'], { input: 'x' })
    const input = `100644 blob ${blob.toString().trim()}\t${'n'.repeat(1024 * 1024)}\n`
    const top = execFileSync('git', ['-C', source.work, 'mktree'], { input }).toString().trim()
    const commit = git(source.work, 'commit-tree', '-m', 'long', top)
    git(source.work, 'push', '-q', 'origin', `${commit}:refs/heads/main`)
    await expect(get(source)).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringContaining('cannot be read: a name in it has more than 64 KiB') as string,
    })
  })

  const inTree = (of: Repository, entries: string) =>
    execFileSync('git', ['-C', of.work, 'mktree'], { input: entries }).toString().trim()
  const pushTree = (of: Repository, top: string) =>
    git(of.work, 'push', '-q', 'origin', `${git(of.work, 'commit-tree', '-m', 'x', top)}:refs/heads/main`)
  const gitlinks = (amount: number) =>
    Array.from({ length: amount }, (_, index) => `160000 commit ${'a'.repeat(40)}\tm${index}\n`).join('')
  const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

  test.each([
    ['a folder whose name no file system takes', 'f'.repeat(256)],
    ['a path longer than any may be', Array.from({ length: 40 }, () => 'f'.repeat(200)).join('/')],
  ])('with other repositories in %s is refused before they are stored', async (_what, path) => {
    const source = repository()
    let top = inTree(source, gitlinks(100))
    for (const folder of path.split('/').toReversed()) top = inTree(source, `040000 tree ${top}\t${folder}\n`)
    pushTree(source, top)
    await expect(get(source)).rejects.toMatchObject(failure('a path in the repository is too long'))
  })

  test('with more other repositories in it than are fetched is refused', async () => {
    const source = repository()
    pushTree(source, inTree(source, gitlinks(501)))
    await expect(get(source)).rejects.toMatchObject(failure('more than 500 submodules'))
  })

  test('of nested folders without a file is refused before all of them are read', async () => {
    const source = repository()
    git(source.work, 'hash-object', '-w', '-t', 'tree', '/dev/null')
    let top = EMPTY_TREE
    for (let depth = 0; depth < 20; depth += 1)
      top = inTree(source, [...'abcdefgh'].map((name) => `040000 tree ${top}\t${name}\n`).join(''))
    pushTree(source, top)
    await expect(get(source)).rejects.toMatchObject(failure('the repository takes more than'))
  })

  test.each(['.gitmodules', '.lfsconfig'])('with a %s of megabytes is refused unread', async (file) => {
    const source = repository()
    source.push({ [file]: '[submodule "a"]\n'.repeat(100_000) })
    await expect(get(source)).rejects.toMatchObject(
      failure(`${file} is larger than 256 KiB: make it smaller`),
    )
  })

  test('whose .gitmodules has endless settings is refused', async () => {
    const source = repository()
    const inner = repository()
    inner.push({ a: 'x' })
    git(source.work, 'submodule', 'add', '-q', inner.bare, 'inner')
    source.push({ '.gitmodules': `[submodule "a"]\n${'url\n'.repeat(20_000)}` })
    await expect(get(source)).rejects.toMatchObject(failure('.gitmodules has more than 10000 settings'))
  })

  test('whose objects need too much memory in git is refused', async () => {
    const gorging = through('const held = Buffer.alloc(600 * 1024 ** 2, 1); setInterval(() => held, 1000)')
    const error = await gorging.catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(GitError)
    expect(error).toMatchObject({ messages: 'git needs more than 512 MiB of memory for it' })
  })

  test('is read with lower priority than what serves', async () => {
    expect(await through('console.log(require("node:os").getPriority())')).toBe('5\n')
  })

  test('is no longer read when the server is killed', async () => {
    const script = fileURLToPath(new URL('../support/cloning.ts', import.meta.url))
    const parent = spawn(process.execPath, [script], { stdio: 'ignore' })
    const ended = once(parent, 'exit')
    const isAsleep = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('sleep')
    const started = await waitFor(() => {
      const all = descendantsOf(parent.pid!)
      return all.some(isAsleep) && all
    }, 'git to start')
    parent.kill('SIGKILL')
    await ended
    await waitFor(() => !started.some(isAlive), 'git to end')
  })
})

describe('a submodule', () => {
  test('whose address has a line end in it is refused although the rest is valid', async () => {
    const outer = withSubmodule('ssh://git@good.example/x\n@[127.0.0.1]:2222/y')
    await expect(get(outer)).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringContaining('must not contain spaces or control characters') as string,
    })
  })

  test('with its own credentials is fetched with them, and they are on no command line', async () => {
    const inner = repository()
    const credentials = `${PRIVATE_USER}:${encodeURIComponent(PRIVATE_PASSWORD)}@`
    const address = `${remotes.privateHttp.replace('http://', `HTTP://${credentials}`)}/${name(inner)}`
    const outer = withSubmodule(address, inner)
    const seen: string[] = []
    const watch = setInterval(() => seen.push(execFileSync('ps', ['axo', 'args']).toString()), 20)
    try {
      await get(outer)
    } finally {
      clearInterval(watch)
    }
    expect(readdirSync(join(tree(), 'inner'))).toEqual(['a'])
    expect(seen.join('\n')).toContain(name(inner))
    expect(seen.join('\n')).not.toMatch(/pa(%20| )ss/)
  })

  test('that is refused shows its address without what may be a secret', async () => {
    const error = (await get(withSubmodule('ftp://ci:secret@host.example/x')).catch(
      (thrown: unknown) => thrown,
    )) as Error
    expect(error.message).toContain('from ftp://host.example/x ')
    expect(error.message).not.toContain('secret')
  })
})

test('a folder that fills up is checked again soon, however long a check took', () => {
  expect([0, 150, 1_000, 60_000].map(restAfter)).toEqual([1_000, 1_350, 2_000, 2_000])
})

test('folders are removed by two processes at a time, not by one each', async () => {
  const folders = Array.from({ length: 6 }, (_, index) => join(home, String(index)))
  for (const folder of folders) {
    mkdirSync(folder)
    writeFileSync(join(folder, 'a'), '')
  }
  const before = readersOf(process.pid)
  const came = () => readersOf(process.pid).filter((pid) => !before.includes(pid))
  let most = 0
  const watch = setInterval(() => (most = Math.max(most, came().length)), 5)
  try {
    await Promise.all(folders.map(removeTree))
  } finally {
    clearInterval(watch)
  }
  expect(readdirSync(home)).toEqual([])
  expect(most).toBe(2)
})
