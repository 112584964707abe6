import { posix } from 'node:path'
import { formatRepositoryUrl, parseRepositoryUrl, repositoryUrlFault } from '#server/git/url.ts'
import { plainLine } from '#server/text/plain-line.ts'
import { BuildFailure } from '#plans/index.ts'
import { RemoteFault } from './remote-fault.ts'
import type { JudgedTree } from './judged-tree.ts'
import type { Repository } from './repository.ts'

/** The file in which a commit lists its submodules (gitmodules(5)). */
const MODULES = '.gitmodules'
const SETTING = /^submodule\.(.*)\.(path|url|update)$/s
/** How much of a refused URL is shown. */
const MAX_SHOWN_CHARACTERS = 200

/** Another repository, whose tree belongs in a folder of a tree. */
export interface Submodule {
  /** Relative to the whole tree, not to the repository that lists the submodule. */
  folder: string
  sha: string
  /** Judged; includes the credentials that were in it. */
  url: string
}

/**
 * The submodules to fetch for a commit of a repository whose own tree is in the folder `above`. Throws BuildFailure for a
 * submodule without a valid URL, and GitError.
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
    if (module?.url === undefined) throw cannotFetch(folder, `${MODULES} has no URL for it`)
    const url = isRelative(module.url) ? resolveRelative(module.url, repository.remote.url) : module.url
    const fault = repositoryUrlFault(url)
    if (fault !== null) throw cannotFetch(folder, `its address ${fault}`, { from: withoutCredentials(url) })
    found.push({ folder, sha, url })
  }
  return found
}

/** A fault in a submodule, with a message that names it. */
class SubmoduleFailure extends BuildFailure {}

/** Adds to an error which submodule it is about. */
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

/** The settings of a commit's submodules, by path. If a setting occurs twice, the last one counts. */
async function readModules(repository: Repository, sha: string): Promise<Map<string, Module>> {
  const modules = new Map<string, Module>()
  const settings = await repository.settings(sha, MODULES, ['--get-regexp', '^submodule\\.'])
  for (const setting of settings) {
    // The first newline is git's separator; others are part of the value.
    const [key = '', value = ''] = setting.split(/\n(.*)/s)
    const [, name, what] = SETTING.exec(key) ?? []
    if (name !== undefined && what !== undefined) modules.set(name, { ...modules.get(name), [what]: value })
  }
  return new Map([...modules.values()].map((module) => [module.path ?? '', module]))
}

function isRelative(url: string): boolean {
  return /^\.\.?\//.test(url)
}

/** Resolves a URL relative to its repository's (git-submodule(1), add); one that leads above the host is returned as is. */
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

/** The part of an invalid URL that may be shown: everything before the last `@` may be a secret. */
function withoutCredentials(text: string): string {
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? ''
  const rest = text.slice(Math.max(text.lastIndexOf('@') + 1, scheme.length))
  return plainLine(scheme + rest, MAX_SHOWN_CHARACTERS)
}
