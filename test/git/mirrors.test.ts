import { execFileSync, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { trimMirrors, withMirror } from '../../daemon/sources/mirrors.ts'
import { childrenOf, isAlive, readersOf } from '../support/processes.ts'
import { waitFor } from '../support/wait.ts'
import { failure } from './checkouts.ts'
import { git, PRIVATE_PASSWORD, PRIVATE_USER, type Repository } from './remotes.ts'
import { serveGit } from './smart-http.ts'

import {
  bench,
  contentOf,
  get,
  large,
  mirror,
  mirrors,
  name,
  packs,
  remotes,
  repository,
  tree,
  useMirrors,
} from './mirror-bench.ts'
useMirrors('git', 'ssh')

describe('a second checkout', () => {
  test.each(['http', 'git', 'ssh'] as const)('over %s fetches only what changed', async (protocol) => {
    const source = repository()
    source.push({ big: large(1), a: 'first' })
    const url = `${remotes[protocol]}/${name(source)}`
    for (const branch of [null, 'main']) await get(source, { url, branch })
    const sizes = () => packs().map((file) => statSync(join(mirror(), 'objects/pack', file)).size)
    const before = sizes().reduce((sum, size) => sum + size, 0)
    const sha = source.push({ a: `changed over ${protocol}` })
    expect(await get(source, { url, branch: 'main' })).toMatchObject({ sha, branch: 'main' })
    expect(contentOf('a')).toBe(`changed over ${protocol}`)
    expect(contentOf('big')).toBe(large(1))
    expect(readdirSync(tree()).sort()).toEqual(['a', 'big'])
    expect(sizes().reduce((sum, size) => sum + size, 0) - before).toBeLessThan(2_000)
    expect(bench.lines).toEqual([])
  })

  test('follows a branch that was rewritten, and removes what is gone', async () => {
    const source = repository()
    source.push({ a: '1', gone: 'x' })
    await get(source)
    git(source.work, 'checkout', '-q', '--orphan', 'other')
    // Otherwise the next commit would follow the previous one.
    git(source.work, 'update-ref', '-d', 'refs/heads/main')
    rmSync(join(source.work, 'gone'))
    const sha = source.push({ a: '2' })
    expect(git(source.work, 'rev-list', '--count', sha)).toBe('1')
    expect(await get(source)).toMatchObject({ sha })
    expect(readdirSync(tree())).toEqual(['a'])
  })

  test('works with SHA-256, with tags, older commits and many branches', async () => {
    const source = repository('sha256')
    const old = source.push({ a: 'old' })
    git(source.work, 'tag', '-a', '-m', 'release', 'v1')
    git(source.work, 'push', '-q', 'origin', 'v1')
    for (const branch of ['a', 'c/d']) source.push({ a: branch }, branch, branch)
    for (const branch of ['a', 'c/d', 'a']) {
      await get(source, { branch })
      expect(contentOf('a')).toBe(branch)
    }
    for (const commit of [old, 'v1', old.slice(0, 9)]) {
      expect(await get(source, { commit })).toMatchObject({ sha: old })
      expect(contentOf('a')).toBe('old')
    }
    expect(bench.lines.filter((line) => line.includes('mirror'))).toEqual([])
  })

  test('works if the remote does not hand out single commits', async () => {
    const source = repository()
    const old = source.push({ a: 'old' })
    source.push({ a: 'new' })
    const url = `${remotes.http}/old-protocol/${name(source)}`
    for (const commit of [old, null, old]) {
      await get(source, { url, commit })
      expect(contentOf('a')).toBe(commit === null ? 'new' : 'old')
    }
  })

  test('is listed after dozens of others with few files to read', async () => {
    const source = repository()
    source.push({ a: 'first' })
    await get(source)
    const branches = Array.from({ length: 26 }, (_, index) => `b${index}`)
    const commits = branches.map(
      (name) =>
        `commit refs/heads/${name}\ncommitter A <a@b> 0 +0\ndata 0\nM 644 inline a\ndata <<E\n${name}\nE\n\n`,
    )
    execFileSync('git', ['-C', source.bare, 'fast-import', '--quiet'], { input: commits.join('') })
    const place = `refs/deployer/${readdirSync(join(mirror(), 'refs/deployer'))[0]}`
    const fetch = ['-c', 'fetch.unpackLimit=1', 'fetch', '-q', '--depth=1', source.bare]
    for (const branch of branches) git(mirror(), ...fetch, `+${branch}:${place}`)
    expect(packs().length).toBeGreaterThan(25)
    await get(source, { branch: 'b25' })
    expect(contentOf('a')).toBe('b25\n')
    expect(packs().length).toBeLessThan(5)
  })
})

describe('the content of a mirror', () => {
  const credentials = () => ({
    username: PRIVATE_USER,
    password: PRIVATE_PASSWORD,
    place: remotes.privateHttp,
  })
  const privately = (of: Repository) => `${remotes.privateHttp}/${name(of)}`

  test('is of no use with credentials that the remote refuses', async () => {
    const source = repository()
    source.push({ a: 'secret' })
    const url = privately(source)
    const sha = git(source.work, 'rev-parse', 'HEAD')
    await get(source, { url, credentials: credentials() })
    rmSync(tree(), { recursive: true })
    const asked = [null, sha].flatMap((commit) => [null, 'main'].map((branch) => ({ commit, branch })))
    for (const what of asked) {
      const refused = get(source, { url, ...what, credentials: null })
      await expect(refused).rejects.toMatchObject(failure('does not exist or is private'))
    }
    for (const holder of ['one', 'two']) {
      const wrong = { ...credentials(), password: 'revoked' }
      const refused = get(source, { url, branch: 'main', commit: sha, holder, credentials: wrong })
      await expect(refused).rejects.toMatchObject(failure('refused the credentials'))
    }
    expect(() => readdirSync(tree())).toThrow('ENOENT')
    await get(source, { url, credentials: credentials() })
    expect(bench.lines).toEqual([])
  })

  test('is kept separately for each set of credentials, and for each address', async () => {
    const source = repository()
    source.push({ a: 'x' })
    await get(source)
    await get(source, { holder: 'two' })
    await get(source, { url: privately(source), credentials: credentials() })
    expect(readdirSync(mirrors())).toHaveLength(3)
    expect(statSync(mirror()).mode & 0o777).toBe(0o700)
  })

  test.each(['', 'old-protocol/'])(
    'is no longer deployed if the remote no longer has it (%s)',
    async (kind) => {
      const source = repository()
      const url = `${remotes.http}/${kind}${name(source)}`
      source.push({ a: 'x' })
      const gone = source.push({ a: 'leaked' })
      source.push({ a: 'after it' })
      await get(source, { url, commit: gone })
      git(source.work, 'reset', '-q', '--hard', 'HEAD~2')
      source.push({ a: 'y' })
      git(source.bare, 'reflog', 'expire', '--expire=now', '--all')
      git(source.bare, 'gc', '-q', '--prune=now')
      await expect(get(source, { url, commit: gone })).rejects.toMatchObject(failure('has no commit'))
    },
  )

  test('is not deployed by a hook that may not name it, although somebody else has it', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const parent = git(source.work, 'rev-parse', 'HEAD')
    const fork = git(source.work, 'commit-tree', '-p', parent, '-m', 'evil', `${parent}^{tree}`)
    git(source.work, 'push', '-q', 'origin', `${fork}:refs/pull/7/head`)
    expect(await get(source, { commit: fork })).toMatchObject({ sha: fork })
    await expect(get(source, { commit: fork, confined: true })).rejects.toMatchObject(
      failure('does not contain the commit'),
    )
  })

  test('contains no credentials', async () => {
    const source = repository()
    source.push({ a: 'x' })
    await get(source, { url: privately(source), credentials: credentials() })
    const files = readdirSync(mirrors(), { recursive: true, withFileTypes: true }).filter((at) => at.isFile())
    expect(files.length).toBeGreaterThan(3)
    for (const at of files)
      expect(readFileSync(join(at.parentPath, at.name), 'latin1')).not.toMatch(/pa(%20| )ss|authorization/i)
  })

  test('is deleted with its repository, whose new address is fetched again', async () => {
    const source = repository()
    source.push({ a: 'x' })
    await get(source)
    renameSync(source.bare, `${source.bare}-renamed`)
    await expect(get(source)).rejects.toMatchObject(failure('does not exist'))
    const url = `${remotes.http}/${name(source)}-renamed`
    expect(await get(source, { url })).toMatchObject({ branch: 'main' })
  })
})

describe('two simultaneous fetches', () => {
  test('of one repository take turns', async () => {
    const source = repository()
    const sha = source.push({ a: 'x', big: large(2) })
    const both = await Promise.all(['one', 'two'].map((at) => get(source, { directory: tree(at) })))
    expect(both).toEqual([expect.objectContaining({ sha }), expect.objectContaining({ sha })])
    expect(readFileSync(join(tree('two'), 'big'), 'utf8')).toBe(large(2))
    expect(bench.lines).toEqual(['waiting for another deploy that fetches the same repository'])
  })

  test('of which one is canceled let the other have its turn', async () => {
    const source = repository()
    const sha = source.push({ a: 'x' })
    const remote = await heldRemote()
    try {
      const url = `${remote.url}/${name(source)}`
      const canceled = new AbortController()
      const first = get(source, { url, directory: tree('one'), signal: canceled.signal })
      await remote.asked()
      const second = get(source, { url, directory: tree('two') })
      canceled.abort(new Error('canceled by the user'))
      await expect(first).rejects.toThrow('canceled by the user')
      remote.release()
      expect(await second).toMatchObject({ sha })
    } finally {
      remote.close()
    }
  })
})

describe('a fetch', () => {
  test('of a mirror that has grown too large begins again', async () => {
    const source = repository()
    source.push({ a: 'first' })
    const remote = await heldRemote()
    try {
      const url = `${remote.url}/${name(source)}`
      remote.release()
      await get(source, { url })
      const grown = grow(mirror(), 3 * 1024 ** 3)
      remote.hold()
      const getting = get(source, { url })
      // The watch begins after a second, and ends what the remote delays.
      await waitFor(() => bench.lines.length > 0, 'the fetch to begin anew', 20_000)
      remote.release()
      expect(await getting).toMatchObject({ branch: 'main' })
      expect(bench.lines).toEqual(['the mirror of the repository has grown too large: fetching all of it'])
      expect(() => statSync(grown)).toThrow('ENOENT')
    } finally {
      remote.close()
    }
  }, 40_000)

  test('of a submodule has space next to what its parent was fetched with before', async () => {
    const [parent, child] = [repository(), repository()]
    child.push({ c: 'x' })
    git(parent.work, 'submodule', 'add', '-q', '-b', 'main', child.bare, 'child')
    git(parent.work, 'config', '-f', '.gitmodules', 'submodule.child.url', `../${name(child)}`)
    parent.push({ p: 'x' })
    const remote = await heldRemote()
    try {
      const url = `${remote.url}/${name(parent)}`
      remote.release()
      await get(parent, { url })
      for (const at of readdirSync(mirrors())) grow(join(mirrors(), at), 1.5 * 1024 ** 3)
      child.push({ c: 'y' })
      git(parent.work, 'submodule', 'update', '-q', '--remote')
      parent.push({})
      bench.lines = []
      const onLine = (line: string) => {
        bench.lines.push(line)
        remote.hold()
      }
      const getting = get(parent, { url, onLine })
      await waitFor(() => bench.lines.length > 0, 'the submodule')
      await remote.asked()
      await waitFor(() => readersOf(process.pid).length > 1 || bench.lines.length > 1, 'the watch')
      await delay(1_000)
      remote.release()
      await getting
      expect(contentOf('child/c')).toBe('y')
      expect(bench.lines).toEqual(['fetching the submodule child'])
    } finally {
      remote.close()
    }
  }, 40_000)

  test.each([
    ['what it fetches', () => randomBytes(2 * 1024 ** 2).toString('base64')],
    ['the tree', () => 'x'.repeat(4 * 1024 ** 2)],
  ])('without disk space for %s leaves the mirror and says so', async (_what, content) => {
    const source = repository()
    const sha = source.push({ a: 'x' })
    mkdirSync(mirrors())
    execFileSync('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', mirrors()])
    try {
      await get(source)
      const before = packs()
      source.push({ big: content() }, 'big', 'large')
      await expect(get(source, { branch: 'large' })).rejects.toThrow(
        'the disk of this server is full or cannot be written to: free some space, then try again',
      )
      expect(packs()).toEqual(expect.arrayContaining(before))
      expect(await get(source)).toMatchObject({ sha })
      expect(bench.lines.join('\n')).not.toContain('fetching all')
    } finally {
      execFileSync('umount', [mirrors()])
    }
  })

  test("of an id of another length than the remote's leaves the mirror", async () => {
    const source = repository()
    source.push({ a: 'x' })
    await get(source)
    const before = packs()
    await expect(get(source, { commit: 'a'.repeat(64) })).rejects.toMatchObject(failure('has no commit aaaa'))
    expect(packs()).toEqual(before)
    expect(bench.lines).toEqual([])
  })

  /** As if that many bytes had been fetched into a mirror earlier. */
  function grow(at: string, bytes: number): string {
    const pack = join(at, `objects/pack/pack-${'a'.repeat(40)}`)
    // It ends with the checksum that its index has for it.
    writeFileSync(`${pack}.idx`, Buffer.alloc(40))
    writeFileSync(`${pack}.pack`, '')
    truncateSync(`${pack}.pack`, bytes)
    return `${pack}.pack`
  }

  test('that failed leaves no mirror of a repository that was never fetched', async () => {
    const source = repository()
    await expect(get(source)).rejects.toMatchObject(failure('is empty'))
    rmSync(source.bare, { recursive: true })
    await expect(get(source)).rejects.toMatchObject(failure('does not exist'))
    expect(readdirSync(mirrors())).toEqual([])
  })

  test.each(['git', 'the server'])(
    'continues after %s was killed in the middle of it',
    async (victim) => {
      const source = repository()
      source.push({ a: 'first', big: large(4) })
      const remote = await heldRemote()
      try {
        const url = `${remote.url}/${name(source)}`
        remote.release()
        await get(source, { url })
        source.push({ a: 'second', big: large(5) })
        remote.hold()
        const script = fileURLToPath(new URL('../support/fetching.ts', import.meta.url))
        const request = {
          url,
          directory: tree(),
          mirrors: mirrors(),
          knownHostsFile: join(bench.home, 'known hosts'),
        }
        const fetching = spawn(process.execPath, [script, JSON.stringify(request)], { stdio: 'ignore' })
        const ended = once(fetching, 'exit')
        await remote.asked()
        const all = descendantsOf(fetching.pid!)
        if (victim === 'git') for (const pid of all.filter(isGit)) process.kill(pid, 'SIGKILL')
        else fetching.kill('SIGKILL')
        await ended
        await waitFor(() => !all.some(isAlive), 'what it started to end')
        writeFileSync(join(mirror(), 'shallow.lock'), '')
        remote.release()
        await get(source, { url })
        expect(contentOf('a') + contentOf('big')).toBe(`second${large(5)}`)
        expect(bench.lines).toEqual([
          'the mirror of the repository was cleaned up: its last use had been interrupted',
        ])
      } finally {
        remote.close()
      }
    },
    40_000,
  )
})

describe('mirrors', () => {
  test('that were used least recently are removed first, those in use never', async () => {
    const now = Date.now() / 1000
    const make = (at: string, age: number) => {
      mkdirSync(join(mirrors(), at, 'objects/pack'), { recursive: true })
      utimesSync(join(mirrors(), at), now - age, now - age)
    }
    for (let index = 0; index < 1_005; index += 1) make(`m${index}`, index)
    make('ancient', 31 * 24 * 3_600)
    make('half.leaving', 0)
    const directory = join(mirrors(), 'ancient-in-use')
    const { signal } = new AbortController()
    const work = async () => {
      make('ancient-in-use', 31 * 24 * 3_600)
      await trimMirrors(mirrors())
    }
    await withMirror({ directory, signal, onLine: (line) => bench.lines.push(line), work })
    const left = readdirSync(mirrors())
    expect(left).toHaveLength(1_001)
    for (const kept of ['m0', 'm999', 'ancient-in-use']) expect(left).toContain(kept)
    for (const gone of ['m1000', 'm1004', 'ancient', 'half.leaving']) expect(left).not.toContain(gone)
    await trimMirrors(mirrors())
    expect(readdirSync(mirrors())).not.toContain('ancient-in-use')
  }, 30_000)
})

function descendantsOf(pid: number): number[] {
  return childrenOf(pid).flatMap((child) => [child, ...descendantsOf(child)])
}

const isGit = (pid: number) => readFileSync(`/proc/${pid}/cmdline`, 'latin1').startsWith('git\0')

/** The http remote, whose packs wait until they are released. */
async function heldRemote() {
  let held = Promise.withResolvers<void>()
  let asked = Promise.withResolvers<void>()
  const server: Server = createServer((request, response) => {
    const isPack = request.method === 'POST'
    if (isPack) asked.resolve()
    void (isPack ? held.promise : Promise.resolve()).then(() =>
      serveGit(request, response, remotes.directory),
    )
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked: () => asked.promise,
    hold: () => {
      held = Promise.withResolvers()
      asked = Promise.withResolvers()
    },
    release: () => held.resolve(),
    close: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}
