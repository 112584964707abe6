import { readdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { failure } from './checkouts.ts'
import { git, PRIVATE_PASSWORD, PRIVATE_USER, type Repository } from './remotes.ts'

import { get, home, name, remotes, repository, tree, useRemotes, withPassword } from './checkout-bench.ts'
useRemotes()

describe('submodules', () => {
  test('are fetched with the credentials of the same host, relative addresses and nested ones too', async () => {
    const inner = repository()
    inner.push({ deep: 'x' })
    const middle = repository()
    git(middle.work, 'submodule', 'add', '-q', inner.bare, 'inner')
    git(middle.work, 'config', '-f', '.gitmodules', 'submodule.inner.url', `../${name(inner)}`)
    middle.push({ m: 'x' })
    inner.push({ deep: 'newer' })
    const outer = repository()
    git(outer.work, 'submodule', 'add', '-q', middle.bare, 'libs/middle')
    git(outer.work, 'config', '-f', '.gitmodules', 'submodule.libs/middle.url', `../${name(middle)}`)
    outer.push({ o: 'x' })
    await get(`${withPassword(PRIVATE_USER, PRIVATE_PASSWORD)}/${name(outer)}`)
    expect(readFileSync(join(tree(), 'libs/middle/inner/deep'), 'utf8')).toBe('x')
    expect(readdirSync(join(tree(), 'libs/middle')).includes('.git')).toBe(false)
    expect(readdirSync(join(tree(), 'libs/middle/inner'))).toEqual(['deep'])
  })

  test.each([
    ['an option in the place of a host', 'ssh://%2doProxyCommand=touch%20pwned/a', /must name a host/],
    ['a line end in its host', 'git://host%0ahost=evil/a', /must name a host/],
    ['a helper program', 'ext::sh -c id', /must not/],
  ])('whose address has %s are refused, also nested ones', async (_what, url, reason) => {
    const inner = repository()
    inner.push({ a: 'x' })
    const middle = repository()
    git(middle.work, 'submodule', 'add', '-q', inner.bare, 'inner')
    git(middle.work, 'config', '-f', '.gitmodules', 'submodule.inner.url', url)
    middle.push({ m: 'x' })
    const outer = repository()
    git(outer.work, 'submodule', 'add', '-q', middle.bare, 'middle')
    git(outer.work, 'config', '-f', '.gitmodules', 'submodule.middle.url', `../${name(middle)}`)
    outer.push({ o: 'x' })
    for (const [index, source] of [middle, outer].entries()) {
      const attempt = get(`${remotes.http}/${name(source)}`, { directory: join(home, String(index)) })
      await expect(attempt).rejects.toMatchObject(
        failure(/^the submodule (middle\/)?inner cannot be fetched from /),
      )
      await expect(attempt).rejects.toMatchObject(failure(reason))
    }
  })

  test('whose address is written in another way are fetched', async () => {
    const inner = repository()
    inner.push({ a: 'x' })
    const outer = repository()
    git(outer.work, 'submodule', 'add', '-q', inner.bare, 'inner')
    const url = `${remotes.http.replace('http:', 'HTTP:')}//%72${name(inner).slice(1)}`
    git(outer.work, 'config', '-f', '.gitmodules', 'submodule.inner.url', url)
    outer.push({ o: 'x' })
    await get(`${remotes.http}/${name(outer)}`)
    expect(readFileSync(join(tree(), 'inner/a'), 'utf8')).toBe('x')
  })

  test("of a repository elsewhere are fetched without its parent's credentials", async () => {
    const secret = repository()
    secret.push({ a: 'secret' })
    const elsewhere = repository()
    git(elsewhere.work, 'submodule', 'add', '-q', secret.bare, 'secret')
    const url = `${remotes.privateHttp}/${name(secret)}`
    git(elsewhere.work, 'config', '-f', '.gitmodules', 'submodule.secret.url', url)
    elsewhere.push({ a: 'x' })
    const own = repository()
    git(own.work, 'submodule', 'add', '-q', elsewhere.bare, 'lib')
    git(own.work, 'config', '-f', '.gitmodules', 'submodule.lib.url', `${remotes.http}/${name(elsewhere)}`)
    own.push({ a: 'x' })
    const credentials = { username: PRIVATE_USER, password: PRIVATE_PASSWORD, place: remotes.privateHttp }
    for (const [address, connection] of [
      [withPassword(PRIVATE_USER, PRIVATE_PASSWORD), null],
      [remotes.privateHttp, credentials],
    ] as const)
      await expect(
        get(`${address}/${name(own)}`, { credentials: connection, holder: 'owner' }),
      ).rejects.toMatchObject(failure(/^the submodule lib\/secret cannot be fetched .*is private/))
  })

  test("of somebody else’s repository get a connection's token for that owner, and nothing of others", async () => {
    const privately = (owner: string) => {
      const made = repository(undefined, owner)
      made.push({ a: `of ${owner}` })
      return made
    }
    const address = (of: Repository) => `${remotes.privateHttp}${of.bare.slice(remotes.directory.length)}`
    const app = privately('Eve')
    const credentials = {
      username: PRIVATE_USER,
      password: PRIVATE_PASSWORD,
      place: `${remotes.privateHttp}/Eve`,
    }
    const deploy = (of: Repository) => {
      git(app.work, 'rm', '-q', '-f', '--ignore-unmatch', 'sub')
      git(app.work, 'submodule', 'add', '-q', '--force', '--name', of.bare, of.bare, 'sub')
      git(app.work, 'config', '-f', '.gitmodules', `submodule.${of.bare}.url`, address(of))
      app.push({})
      rmSync(tree(), { recursive: true, force: true })
      return get(address(app), { credentials, holder: 'ada' })
    }
    await deploy(privately('Eve'))
    expect(readFileSync(join(tree(), 'sub/a'), 'utf8')).toBe('of Eve')
    for (const owner of ['ada', 'Evening'])
      await expect(deploy(privately(owner))).rejects.toMatchObject(
        failure(/^the submodule sub cannot be fetched .*is private/),
      )
  })

  test.each([
    ['of a connection', false],
    ['in the address', true],
  ])(
    'of a stranger’s submodule below one’s own get the token %s only for that stranger',
    async (_where, isInAddress) => {
      const privately = (owner: string) => repository(undefined, owner)
      const address = (of: Repository) => `${remotes.privateHttp}${of.bare.slice(remotes.directory.length)}`
      const secret = privately('ada')
      secret.push({ a: 'secret' })
      const add = (to: Repository, of: Repository, files: Record<string, string>) => {
        git(to.work, 'submodule', 'add', '-q', '--name', of.bare, of.bare, 'sub')
        git(to.work, 'config', '-f', '.gitmodules', `submodule.${of.bare}.url`, address(of))
        to.push(files)
      }
      const deploy = (through: Repository) => {
        const own = privately('Ada')
        add(own, through, { a: 'own' })
        const place = { place: remotes.privateHttp, own: `${remotes.privateHttp}/ada` }
        const credentials = { username: PRIVATE_USER, password: PRIVATE_PASSWORD, ...place }
        rmSync(tree(), { recursive: true, force: true })
        if (!isInAddress) return get(address(own), { credentials, holder: 'ada' })
        return get(address(own).replace(remotes.privateHttp, withPassword(PRIVATE_USER, PRIVATE_PASSWORD)))
      }
      const inner = privately('Eve')
      inner.push({ a: 'of Eve' })
      for (const [owner, below, content] of [
        ['Eve', inner, 'of Eve'],
        ['ada', secret, 'secret'],
      ] as const) {
        const library = privately(owner)
        add(library, below, {})
        await deploy(library)
        expect(readFileSync(join(tree(), 'sub/sub/a'), 'utf8')).toBe(content)
      }
      const greedy = privately('Eve')
      add(greedy, secret, {})
      await expect(deploy(greedy)).rejects.toMatchObject(
        failure(/^the submodule sub\/sub cannot be fetched .*is private/),
      )
    },
  )

  test('that are listed and do not exist are left out', async () => {
    const source = repository()
    source.push({ '.gitmodules': '[submodule "gone"]\n\tpath = gone\n\turl = ../gone\n' })
    await get(`${remotes.http}/${name(source)}`)
    expect(readdirSync(tree())).toEqual(['.gitmodules'])
  })

  test('that contain themselves end with that reason', async () => {
    const own = repository()
    own.push({ a: 'x' })
    git(own.work, 'submodule', 'add', '-q', own.bare, 'own')
    git(own.work, 'config', '-f', '.gitmodules', 'submodule.own.url', `${remotes.http}/${name(own)}`)
    own.push({ b: 'x' })
    // A commit can only name another one: the next contains the previous, and so on.
    for (let index = 0; index < 12; index += 1) {
      git(own.work, 'update-index', '--cacheinfo', `160000,${git(own.work, 'rev-parse', 'HEAD')},own`)
      git(own.work, 'commit', '-q', '-m', 'own')
    }
    git(own.work, 'push', '-q', 'origin', 'main')
    await expect(get(`${remotes.http}/${name(own)}`)).rejects.toMatchObject(
      failure('nested more than 10 deep'),
    )
  })

  test('by a local path are refused', async () => {
    const inner = repository()
    inner.push({ a: 'x' })
    const outer = repository()
    git(outer.work, 'submodule', 'add', '-q', inner.bare, 'inner')
    outer.push({ o: 'x' })
    await expect(get(`${remotes.http}/${name(outer)}`)).rejects.toMatchObject(
      failure(/^the submodule inner cannot be fetched/),
    )
  })
})
