import { posix } from 'node:path'
import { formatRepositoryUrl, parseRepositoryUrl, repositoryUrlFault } from '#server/git/url.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { BuildFailure } from '#plans/index.ts'
import { RemoteFault } from './remote-fault.ts'
import type { JudgedTree } from './judged-tree.ts'
import type { Repository } from './repository.ts'

/** Where a commit says what its submodules are (gitmodules(5)). */
const MODULES = '.gitmodules'
const SETTING = /^submodule\.(.*)\.(path|url|update)$/s
/** As much of an address that is refused is shown. */
const MAX_SHOWN_CHARACTERS = 200

/** Another repository, whose tree belongs into a folder of a tree. */
export interface Submodule {
  /** Of the whole tree, which may be its repository's or that of one above. */
  folder: string
  sha: string
  /** Judged; with the credentials that were in it. */
  url: string
}

/**
 * The submodules that a commit wants fetched, of a repository whose own tree lies in `above`. Throws BuildFailure for one
 * without an address that is taken, and GitError.
 */
export async function submodulesOf(
  repository: Repository,
  judged: JudgedTree,
  above: string,
): Promise<Submodule[]> {
  if (!judged.hasModules || judged.submodules.length === 0) return []
  const listed = await readModules(repository, judged.sha)
  const found: Submodule[] = []
  for (const { path, sha } of judged.submodules) {
    const folder = posix.join(above, path)
    const module = listed.get(path)
    if (module?.update === 'none') continue
    if (module?.url === undefined) throw cannotFetch(folder, `${MODULES} names no address for it`)
    const url = isRelative(module.url) ? resolveRelative(module.url, repository.remote.url) : module.url
    const fault = repositoryUrlFault(url)
    if (fault !== null) throw cannotFetch(folder, `its address ${fault}`, { from: withoutCredentials(url) })
    found.push({ folder, sha, url })
  }
  return found
}

/** A fault of a submodule, which the message names. */
class SubmoduleFailure extends BuildFailure {}

/** What a fault of a submodule means for the user of the repository. */
export function failureOf({ folder }: Submodule, error: unknown): unknown {
  if (error instanceof RemoteFault) return cannotFetch(folder, error.message, { cause: error })
  if (!(error instanceof BuildFailure) || error instanceof SubmoduleFailure) return error
  return new SubmoduleFailure(`the submodule ${folder}: ${error.message}`, { cause: error })
}

function cannotFetch(
  folder: string,
  reason: string,
  { from, cause }: { from?: string; cause?: RemoteFault } = {},
): SubmoduleFailure {
  return new SubmoduleFailure(
    `the submodule ${folder} cannot be fetched${from === undefined ? '' : ` from ${from}`} (${reason}): make it readable for this server (same host and credentials, or its ssh key), or remove it`,
    { cause },
  )
}

type Module = Partial<Record<string, string>>

/** What a commit says of its submodules, by their paths. Of a setting that is there twice the last one counts. */
async function readModules(repository: Repository, sha: string): Promise<Map<string, Module>> {
  const modules = new Map<string, Module>()
  const settings = await repository.settings(sha, MODULES, ['--get-regexp', '^submodule\\.'])
  for (const setting of settings) {
    // The first line end is git's own, any other a part of the value.
    const [key = '', value = ''] = setting.split(/\n(.*)/s)
    const [, name, what] = SETTING.exec(key) ?? []
    if (name !== undefined && what !== undefined) modules.set(name, { ...modules.get(name), [what]: value })
  }
  return new Map([...modules.values()].map((module) => [module.path ?? '', module]))
}

function isRelative(url: string): boolean {
  return /^\.\.?\//.test(url)
}

/** An address that is relative to that of its repository (git-submodule(1), add), on the same host; one that leads above it is none. */
function resolveRelative(relative: string, base: string): string {
  const host = formatRepositoryUrl({ ...parseRepositoryUrl(base)!, path: '' })
  const path = base.slice(host.length)
  const root = path.startsWith('/') ? '/' : ''
  const segments = path.split('/').filter((segment) => segment !== '')
  for (const segment of relative.split('/')) {
    if (segment === '..' && segments.pop() === undefined) return relative
    if (segment !== '..' && segment !== '.' && segment !== '') segments.push(segment)
  }
  return host + root + segments.join('/')
}

/** What may be shown of an address that is none: all before the last `@` may be a secret. */
function withoutCredentials(text: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? ''
  const rest = text.slice(Math.max(text.lastIndexOf('@') + 1, scheme.length))
  return plainLine(scheme + rest, MAX_SHOWN_CHARACTERS)
}
