import { execFileSync } from 'node:child_process'
import { lstatSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { lsRemote } from '../../daemon/sources/refs.ts'
import { ensureSshKey } from '../../daemon/sources/ssh-key.ts'
import { failure } from './checkouts.ts'
import { freePort, git, PRIVATE_PASSWORD, PRIVATE_USER } from './remotes.ts'

import {
  access,
  get,
  home,
  name,
  remotes,
  repository,
  tree,
  useRemotes,
  withPassword,
} from './checkout-bench.ts'
useRemotes('git', 'ssh')

describe('a checkout', () => {
  test.each(['http', 'git', 'ssh'] as const)('works over %s', async (protocol) => {
    const source = repository()
    const sha = source.push({ 'a/b.txt': 'hello' }, 'first line\n\nsecond ä')
    const result = await get(`${remotes[protocol]}/${name(source)}`)
    expect(result).toEqual({ sha, message: 'first line\n\nsecond ä', author: 'Ada', branch: 'main' })
    expect(readdirSync(tree())).toEqual(['a'])
    expect(readFileSync(join(tree(), 'a/b.txt'), 'utf8')).toBe('hello')
  })

  test('works over http with a password, which is on no command line and in no file', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const seen: string[] = []
    const watch = setInterval(() => seen.push(execFileSync('ps', ['axo', 'args']).toString()), 20)
    try {
      await get(`${withPassword(PRIVATE_USER, PRIVATE_PASSWORD)}/${name(source)}`)
    } finally {
      clearInterval(watch)
    }
    expect(seen.join('\n')).not.toContain(PRIVATE_PASSWORD)
    expect(readdirSync(tree())).toEqual(['a'])
  })

  test('uses the requested branch, otherwise the head', async () => {
    const source = repository()
    source.push({ a: 'main' })
    const sha = source.push({ a: 'other' }, 'other', 'feature/x')
    git(source.bare, 'symbolic-ref', 'HEAD', 'refs/heads/feature/x')
    const url = `${remotes.http}/${name(source)}`
    expect(await get(url)).toMatchObject({ sha, branch: 'feature/x' })
    expect(await get(url, { branch: 'main', directory: join(home, 'two') })).toMatchObject({ branch: 'main' })
    expect(readFileSync(join(home, 'two/a'), 'utf8')).toBe('main')
  })

  test.each(['http', 'git', 'ssh'] as const)(
    'finds an older commit over %s, by full or short id',
    async (protocol) => {
      const source = repository()
      const old = source.push({ a: 'old' }, 'old')
      source.push({ a: 'new' }, 'new')
      const url = `${remotes[protocol]}/${name(source)}`
      expect(await get(url, { commit: old.toUpperCase() })).toMatchObject({
        sha: old,
        message: 'old',
        branch: 'main',
      })
      const two = join(home, 'two')
      expect(await get(url, { commit: old.slice(0, 8), directory: two })).toMatchObject({ sha: old })
      expect(readdirSync(two)).toEqual(['a'])
      expect(readFileSync(join(two, 'a'), 'utf8')).toBe('old')
    },
  )

  test('finds an older commit if the remote speaks only the first protocol', async () => {
    const source = repository()
    const old = source.push({ a: 'old' }, 'old')
    source.push({ a: 'new' }, 'new')
    const lines: string[] = []
    const url = `${remotes.http}/old-protocol/${name(source)}`
    const result = await get(url, { commit: old, onLine: (line) => lines.push(line) })
    expect(result.sha).toBe(old)
    expect(lines).toContain(
      'the remote does not allow fetching single commits: fetching its complete history',
    )
    await expect(get(url, { commit: 'a'.repeat(40), directory: join(home, 'two') })).rejects.toMatchObject(
      failure('has no commit aaaa'),
    )
  })

  test('accepts names of tags and branches, and the short id of a tip, as a commit', async () => {
    const source = repository()
    const first = source.push({ a: '1' })
    git(source.work, 'tag', '-a', '-m', 'release', 'v1.0')
    git(source.work, 'push', '-q', 'origin', 'v1.0')
    const second = source.push({ a: '2' }, 'two', 'deadbeef')
    const url = `${remotes.http}/${name(source)}`
    const at = async (commit: string) =>
      (await get(url, { commit, directory: join(home, `t-${commit.replaceAll('/', '-')}`) })).sha
    expect(await at('v1.0')).toBe(first)
    expect(await at('refs/tags/v1.0')).toBe(first)
    expect(await at('deadbeef')).toBe(second)
    expect(await at(second.slice(0, 7))).toBe(second)
  })

  test('works with SHA-256 repositories', async () => {
    const source = repository('sha256')
    const old = source.push({ a: 'old' })
    source.push({ a: 'new' })
    const url = `${remotes.http}/${name(source)}`
    expect((await get(url)).sha).toHaveLength(64)
    expect((await get(url, { commit: old, directory: join(home, 'two') })).sha).toBe(old)
  })

  test('keeps links as they are, follows none, and runs nothing of the repository', async () => {
    const source = repository()
    symlinkSync('/etc/passwd', join(source.work, 'outside'))
    writeFileSync(join(source.work, '.gitattributes'), '* filter=evil\n*.bin filter=lfs\n')
    const lines: string[] = []
    source.push({
      'hooks/post-checkout': '#!/bin/sh\ntouch /tmp/never\n',
      'x.bin': 'version https://git-lfs',
    })
    await get(`${remotes.http}/${name(source)}`, { onLine: (line) => lines.push(line) })
    expect(lstatSync(join(tree(), 'outside')).isSymbolicLink()).toBe(true)
    expect(readFileSync(join(tree(), 'x.bin'), 'utf8')).toBe('version https://git-lfs')
    expect(lines).toEqual([])
  })

  test('does not send the credentials of one host to another', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const port = await freePort()
    const elsewhere = `http://127.0.0.1:${port}/x.git`
    const parent = repository()
    git(parent.work, 'submodule', 'add', '-q', source.bare, 'sub')
    git(parent.work, 'config', '-f', '.gitmodules', 'submodule.sub.url', `${remotes.http}/${name(source)}`)
    parent.push({ a: 'x' })
    remotes.requests.length = 0
    await get(`${withPassword(PRIVATE_USER, PRIVATE_PASSWORD)}/${name(parent)}`)
    const toSource = remotes.requests.filter(({ path }) => path.includes(name(source)))
    expect(toSource.length).toBeGreaterThan(0)
    expect(toSource.every(({ authorization }) => authorization === null)).toBe(true)
    git(parent.work, 'config', '-f', '.gitmodules', 'submodule.sub.url', elsewhere)
    parent.push({ a: 'y' })
    await expect(
      get(`${withPassword(PRIVATE_USER, PRIVATE_PASSWORD)}/${name(parent)}`, {
        directory: join(home, 'two'),
      }),
    ).rejects.toMatchObject(failure(/the submodule .*sub cannot be fetched/))
  })
})

describe('a repository that cannot be cloned', () => {
  test.each(['http', 'git', 'ssh'] as const)('because it is missing says so over %s', async (protocol) => {
    await expect(get(`${remotes[protocol]}/missing.git`)).rejects.toMatchObject(
      failure('does not exist or this server may not read it'),
    )
  })

  test('because it needs credentials says so', async () => {
    await expect(get(`${remotes.privateHttp}/x.git`)).rejects.toMatchObject(
      failure('does not exist or is private'),
    )
  })

  test('because they are wrong says so without repeating them', async () => {
    const error = await get(`${withPassword('ci', 'wr ong')}/x.git`).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject(failure('refused the credentials'))
    expect(JSON.stringify(error, Object.getOwnPropertyNames(error))).not.toMatch(/wr(%20| )ong/)
  })

  test('because the ssh key is not allowed says which to add', async () => {
    await ensureSshKey(home)
    const sshKeyFile = join(home, 'ssh/id_ed25519')
    await expect(get(`${remotes.ssh}/x.git`, { sshKeyFile })).rejects.toMatchObject(
      failure('deployer ssh-key'),
    )
  })

  test('because it is empty, or lacks the branch or commit, says which there are', async () => {
    const source = repository()
    const url = `${remotes.http}/${name(source)}`
    const two = { directory: join(home, 'two') }
    await expect(get(url)).rejects.toMatchObject(failure('is empty: push a commit'))
    await expect(get(url, { ...two, branch: 'main' })).rejects.toMatchObject(
      failure('is empty: push a commit'),
    )
    source.push({ a: 'x' })
    source.push({ a: 'y' }, 'y', 'other')
    await expect(get(url, { branch: 'gone', directory: join(home, 't3') })).rejects.toMatchObject(
      failure('has no branch gone: set branch to one of its branches (main, other)'),
    )
    for (const commit of ['gone', 'abcd', 'a'.repeat(40)]) {
      const directory = join(home, `c-${commit.slice(0, 9)}`)
      await expect(get(url, { commit, directory })).rejects.toMatchObject(failure(`has no commit ${commit}`))
    }
    git(source.bare, 'symbolic-ref', 'HEAD', 'refs/heads/nowhere')
    await expect(get(url, { directory: join(home, 't4') })).rejects.toMatchObject(failure('default branch'))
  })

  test('because nothing listens there says that the host cannot be reached', async () => {
    const port = await freePort()
    for (const url of [
      `http://127.0.0.1:${port}/x.git`,
      `git://127.0.0.1:${port}/x.git`,
      `ssh://a@127.0.0.1:${port}/x.git`,
    ]) {
      const directory = join(home, url.split(':')[0]!)
      await expect(get(url, { directory })).rejects.toMatchObject(
        failure('the host 127.0.0.1 cannot be reached'),
      )
    }
    await expect(
      get('https://no-such-host.invalid/x.git', { directory: join(home, 'dns') }),
    ).rejects.toMatchObject(failure(/no-such-host\.invalid (cannot be (found|reached))/))
  })

  test('because the host key differs from the pinned one says so', async () => {
    const source = repository()
    source.push({ a: 'x' })
    const url = `${remotes.ssh}/${name(source)}`
    await get(url)
    const pinned = readFileSync(join(home, 'known hosts'), 'utf8')
    expect(pinned).toContain('ssh-ed25519')
    const other = readFileSync(`${remotes.sshKeyFile}.pub`, 'utf8').split(' ')[1]
    writeFileSync(join(home, 'known hosts'), pinned.replaceAll(/ssh-ed25519 \S+/g, `ssh-ed25519 ${other}`))
    await expect(get(url, { directory: join(home, 'two') })).rejects.toMatchObject(
      failure('the host key of 127.0.0.1 has changed'),
    )
  })

  test('because its tree is a bomb is refused before it is laid out', async () => {
    const source = repository()
    const blob = execFileSync('git', ['-C', source.work, 'hash-object', '-w', '--stdin'], { input: 'x' })
      .toString()
      .trim()
    let entry = `100644 blob ${blob}\tf`
    for (let level = 0; level < 7; level += 1) {
      const input = `${Array.from({ length: 10 }, (_, index) => entry.replace(/\t.*/, `\t${level}-${index}`)).join('\n')}\n`
      entry = `040000 tree ${execFileSync('git', ['-C', source.work, 'mktree'], { input }).toString().trim()}\td`
    }
    const commit = git(source.work, 'commit-tree', '-m', 'bomb', entry.split(/[ \t]/)[2]!)
    git(source.work, 'push', '-q', 'origin', `${commit}:refs/heads/main`)
    await expect(get(`${remotes.http}/${name(source)}`)).rejects.toMatchObject(failure('500000 files'))
  })

  test('because it was canceled ends at once with the reason, and leaves no process', async () => {
    const silent = createServer().listen(0, '127.0.0.1')
    await new Promise((resolve) => silent.once('listening', resolve))
    const { port } = silent.address() as { port: number }
    const controller = new AbortController()
    const waiting = get(`http://127.0.0.1:${port}/silent.git`, { signal: controller.signal })
    await new Promise((resolve) => silent.once('connection', resolve))
    controller.abort(new Error('canceled by the user'))
    await expect(waiting).rejects.toThrow('canceled by the user')
    silent.close()
    await expect
      .poll(() => execFileSync('ps', ['axo', 'args']).toString())
      .not.toContain(`${port}/silent.git`)
  })
})

describe('reading branches', () => {
  test('returns all of them and the default one', async () => {
    const source = repository()
    const url = `${remotes.http}/${name(source)}`
    expect(await lsRemote({ url, ...access() })).toEqual({ branches: [], default_branch: null })
    source.push({ a: 'x' })
    source.push({ a: 'y' }, 'y', 'feature/a')
    expect(await lsRemote({ url, ...access() })).toEqual({
      branches: ['feature/a', 'main'],
      default_branch: 'main',
    })
  })

  test('fails like a remote that cannot be reached', async () => {
    await expect(lsRemote({ url: `${remotes.http}/missing.git`, ...access() })).rejects.toMatchObject({
      code: 'git_remote_unreachable',
      message: expect.stringContaining('does not exist'),
    })
  })
})

describe("the server's ssh key", () => {
  test('is created once, readable only by its owner, also when requested twice at a time', async () => {
    const [first, second] = await Promise.all([ensureSshKey(home), ensureSshKey(home)])
    expect(first).toMatch(/^ssh-ed25519 \S+ deployer$/)
    expect(second).toBe(first)
    expect(await ensureSshKey(home)).toBe(first)
    expect(statSync(join(home, 'ssh/id_ed25519')).mode & 0o777).toBe(0o600)
    rmSync(join(home, 'ssh/id_ed25519.pub'))
    expect(await ensureSshKey(home)).toContain(first.split(' ')[1])
  })
})
