import { lstat, readdir, rm } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import {
  formatRepositoryUrl,
  parseRepositoryUrl,
  repositoryUrlFault,
  splitCredentials,
} from '#server/git/url.ts'
import { BuildFailure } from '../builds/failure.ts'
import { GitError } from './git-command.ts'
import { lastWords } from './git-remote.ts'
import { Repository } from './repository.ts'

/** Submodules of submodules, and theirs: deeper ones are of a repository that contains itself. */
const MAX_DEPTH = 10

/**
 * Fetches the submodules of a tree that was checked out, and theirs, where it has any. Throws BuildFailure that names the
 * submodule.
 */
export async function fetchSubmodules(top: Repository, onLine: (line: string) => void): Promise<void> {
  if (!(await hasFile(top, '.gitmodules'))) return
  onLine('fetching submodules')
  await fetchBelow(top, top.directory, 1)
  await removeGitFiles(top.directory)
}

async function fetchBelow(parent: Repository, top: string, depth: number): Promise<void> {
  if (!(await hasFile(parent, '.gitmodules'))) return
  if (depth > MAX_DEPTH)
    throw new BuildFailure(`the submodules are nested more than ${MAX_DEPTH} deep: does one contain itself?`)
  try {
    await parent.git(['submodule', '--quiet', 'init'])
    await judgeAddresses(parent)
    await update(parent)
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw submoduleFault(error, parent.directory, top)
  }
  for (const path of await submodulePaths(parent)) {
    const child = new Repository(join(parent.directory, path), parent.remote, parent.signal)
    // Of one that was left out git would take the parent for its repository.
    if (await hasFile(child, '.git')) await fetchBelow(child, top, depth + 1)
  }
}

async function update(parent: Repository): Promise<void> {
  const command = ['submodule', '--quiet', 'update', '--force']
  await parent.git([...command, '--depth=1']).catch(async (error: unknown) => {
    const isShallowFault =
      error instanceof GitError && /did not contain|not our ref|unadvertised/.test(error.messages)
    if (!isShallowFault) throw error
    await parent.git(command)
  })
}

/** Has git see of the addresses, which `init` has made absolute, what was judged, as of the repository's own. */
async function judgeAddresses(parent: Repository): Promise<void> {
  const list = ['config', '--local', '--null', '--get-regexp', '^submodule\\..*\\.url$']
  const settings = await parent.git(list).catch((error: unknown) => {
    // It says nothing when there is none.
    if (error instanceof GitError && error.messages === '') return ''
    throw error
  })
  for (const setting of settings.split('\0').filter((text) => text !== '')) {
    const [key, url] = setting.split('\n', 2) as [string, string]
    const judged = addressOf(url)
    if (judged === null) {
      const name = key.slice('submodule.'.length, -'.url'.length)
      throw cannotFetch(`the submodule ${name}`, url, `its address ${repositoryUrlFault(url)}`)
    }
    if (judged !== url) await parent.git(['config', '--local', key, judged])
  }
}

function addressOf(text: string): string | null {
  const parsed = parseRepositoryUrl(text)
  if (parsed === null) return null
  const { protocol, username, password } = parsed
  if (protocol === 'ssh' || (username === null && password === null)) return formatRepositoryUrl(parsed)
  const url = new URL(formatRepositoryUrl(parsed))
  url.username = encodeURIComponent(username ?? '')
  url.password = encodeURIComponent(password ?? '')
  return url.href
}

/** Where submodules are in the tree: its entries that name a commit (git-ls-files(1), --stage). */
async function submodulePaths(parent: Repository): Promise<string[]> {
  const paths: string[] = []
  await parent.git(['-c', 'core.quotePath=false', 'ls-files', '--stage'], (line) => {
    const path = /^160000 \S+ \d\t(.*)$/.exec(line)?.[1]
    // In quotation marks are paths with control characters in them.
    if (path !== undefined && !path.startsWith('"')) paths.push(path)
  })
  return paths
}

async function hasFile({ directory }: Repository, name: string): Promise<boolean> {
  return await lstat(join(directory, name)).then(
    (facts) => facts.isFile(),
    () => false,
  )
}

function submoduleFault(error: GitError, parent: string, top: string): BuildFailure {
  const url = /clone of '([^']*)' into submodule path/.exec(error.messages)?.[1]
  const path = /submodule path '([^']*)'/.exec(error.messages)?.[1]
  const name = path === undefined ? 'a submodule' : `the submodule ${relative(top, resolve(parent, path))}`
  const detail = error.messages
    .split('\n')
    .find((line) => /^(fatal|remote|ERROR): /.test(line) && !/submodule path/.test(line))
  return cannotFetch(name, url, detail ?? lastWords(error), error)
}

function cannotFetch(name: string, url: string | undefined, reason: string, cause?: GitError): BuildFailure {
  const from = url === undefined ? '' : ` from ${splitCredentials(url).url}`
  return new BuildFailure(
    `${name} cannot be fetched${from} (${reason}): make it readable for this server (same host and credentials, or its ssh key), or remove it`,
    { cause },
  )
}

/** Submodules have a `.git` file each; git lets no repository hold one of its own. */
async function removeGitFiles(directory: string): Promise<void> {
  for (const entry of await readdir(directory, { withFileTypes: true })) {
    const path = join(directory, entry.name)
    if (entry.name === '.git') await rm(path, { recursive: true, force: true })
    else if (entry.isDirectory()) await removeGitFiles(path)
  }
}
