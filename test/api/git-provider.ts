import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect } from 'vitest'
import { git } from '../git/remotes.ts'
import { PlayedProvider } from '../git/providers.ts'
import { startServer, type ApiAnswer, type TestServer } from '../support/server.ts'

export const CALLBACK = 'https://dashboard.example.com/git/callback'
export let server: TestServer
let home: string
export let provider: PlayedProvider

/** Gives the tests of a file a server and a provider with one repository, `octo-org/api`, and nothing connected. */
export function useProvider(): void {
  beforeAll(async () => {
    home = mkdtempSync(join(tmpdir(), 'git-connections-'))
    makeRepository('octo-org/api')
    provider = await PlayedProvider.start(home)
    server = await startServer()
  })
  afterAll(async () => {
    await server?.stop()
    await provider?.close()
    rmSync(home, { recursive: true, force: true })
  })
  beforeEach(async () => {
    provider.instead.clear()
    provider.repositories.length = 0
    provider.tokens.clear()
    for (const { id } of (await server.api('GET', '/git/connections')).body as { id: string }[])
      await server.api('DELETE', `/git/connections/${id}?force=true`)
  })
}

/** A repository with one commit on two branches, in the folder that the provider serves. */
export function makeRepository(name: string): void {
  const bare = join(home, `${name}.git`)
  mkdirSync(bare, { recursive: true })
  git(bare, 'init', '-q', '--bare', '-b', 'main')
  const tree = git(bare, 'mktree')
  const commit = git(bare, 'commit-tree', '-m', 'first', tree)
  for (const branch of ['main', 'next']) git(bare, 'update-ref', `refs/heads/${branch}`, commit)
}

/** The commit that a branch of a repository points to. */
export const branchTip = (name: string, branch = 'main'): string =>
  git(join(home, `${name}.git`), 'rev-parse', branch)

/** Pushes a branch that has another repository as a submodule. */
export function addSubmodule(name: string, branch: string, of: string): void {
  const work = mkdtempSync(join(home, '.work-'))
  git(work, 'clone', '-q', join(home, `${name}.git`), '.')
  const sha = git(join(home, `${of}.git`), 'rev-parse', 'main')
  const module = [`path = sub`, `url = ${provider.url}/${of}.git`]
  writeFileSync(join(work, '.gitmodules'), ['[submodule "sub"]', ...module, ''].join('\n'))
  git(work, 'add', '.gitmodules')
  git(work, 'update-index', '--add', '--cacheinfo', `160000,${sha},sub`)
  git(work, 'commit', '-q', '-m', 'submodule')
  git(work, 'push', '-q', 'origin', `HEAD:${branch}`)
}

/** Connects with a token whose owner can read `octo-org/api`. */
export async function connect(
  kind: 'gitprov_a' | 'gitprov_b' = 'gitprov_a',
  token = 'ghp_0123456789abcd',
): Promise<ApiAnswer> {
  provider.tokens.set(token, 'ada')
  provider.add('octo-org/api', ['ada'])
  return server.api('POST', '/git/connections', { provider: kind, token, base_url: `${provider.url}/` })
}

export const failure = (status: number, code: string, message: RegExp) => ({
  status,
  body: { error: { code, message: expect.stringMatching(message) } },
})

export async function listed(): Promise<{ id: string; status: string; account: string | null }[]> {
  return (await server.api('GET', '/git/connections')).body
}

export const branches = (url: string) =>
  server.api('GET', `/git/branches?repo_url=${encodeURIComponent(url)}`)
