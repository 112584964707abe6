import { lstat } from 'node:fs/promises'
import { join, relative, resolve } from 'node:path'
import { parseRepositoryUrl, repositoryUrlFault, splitCredentials } from '#server/git/url.ts'
import { BuildFailure } from '../builds/failure.ts'
import { GitError } from './git-error.ts'
import { admit, lastWords, type Remote } from './git-remote.ts'
import { WorkingTree } from './working-tree.ts'

/** Submodules of submodules, and theirs: deeper ones are of a repository that contains itself. */
const MAX_DEPTH = 10
/** How `git config --get-regexp` ends when nothing matches (git-config(1)). */
const NONE_FOUND = 1
/** As much of an address that is refused is shown. */
const MAX_SHOWN_CHARACTERS = 200

/** Whether a tree that was laid out lists submodules. */
export function listsSubmodules(directory: string): Promise<boolean> {
  return hasFile(directory, '.gitmodules')
}

/** Fetches the submodules of a tree that was laid out, and theirs. Throws BuildFailure that names the submodule. */
export async function fetchSubmodules(top: WorkingTree): Promise<void> {
  // Relative addresses are relative to this one.
  await top.git(['config', '--local', 'remote.origin.url', top.remote.url])
  await fetchBelow(top, top.directory, 1)
}

async function fetchBelow(parent: WorkingTree, top: string, depth: number): Promise<void> {
  if (!(await listsSubmodules(parent.directory))) return
  if (depth > MAX_DEPTH)
    throw new BuildFailure(`the submodules are nested more than ${MAX_DEPTH} deep: does one contain itself?`)
  let { remote } = parent
  try {
    await parent.git(['submodule', '--quiet', 'init'])
    remote = await judgeAddresses(parent)
    await update(new WorkingTree(parent.directory, remote))
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw submoduleFault(error, parent.directory, top)
  }
  for (const path of await submodulePaths(parent)) {
    const child = new WorkingTree(join(parent.directory, path), remote)
    // Of one that was left out git would take the parent for its repository.
    if (await hasFile(child.directory, '.git')) await fetchBelow(child, top, depth + 1)
  }
}

async function update(parent: WorkingTree): Promise<void> {
  const command = ['submodule', '--quiet', 'update', '--force']
  await parent.git([...command, '--depth=1']).catch(async (error: unknown) => {
    const isShallowFault =
      error instanceof GitError && /did not contain|not our ref|unadvertised/.test(error.messages)
    if (!isShallowFault) throw error
    await parent.git(command)
  })
}

/**
 * Has git see of the addresses, which `init` has made absolute, what was judged, as of the repository's own, and reach their
 * hosts. The credentials that were in them go to the desk: git would put an address on the command lines of its programs.
 * Answers the remote with the settings that the hosts need.
 */
async function judgeAddresses(parent: WorkingTree): Promise<Remote> {
  const list = ['config', '--local', '--null', '--get-regexp', '^submodule\\..*\\.url$']
  const addresses = await parent.git(list).catch((error: unknown) => {
    if (error instanceof GitError && error.code === NONE_FOUND) return ''
    throw error
  })
  const { remote } = parent
  const settings = [...remote.settings]
  for (const setting of addresses.split('\0').filter((text) => text !== '')) {
    // The first line end is git's own, any other a part of the address.
    const end = setting.indexOf('\n')
    const key = setting.slice(0, end)
    const url = setting.slice(end + 1)
    const parsed = parseRepositoryUrl(url)
    if (parsed === null) {
      const name = key.slice('submodule.'.length, -'.url'.length)
      throw cannotFetch(`the submodule ${name}`, url, `its address ${repositoryUrlFault(url)}`)
    }
    const judged = splitCredentials(url)
    if (judged.url !== url) await parent.git(['config', '--local', key, judged.url])
    if (judged.username !== null || judged.password !== null)
      remote.desk.add(judged.url, judged.username, judged.password)
    settings.push(...(await admit(remote, parsed)))
  }
  return { ...remote, settings }
}

/** Where submodules are in the tree: its entries that name a commit (git-ls-files(1), --stage). */
async function submodulePaths(parent: WorkingTree): Promise<string[]> {
  const paths: string[] = []
  const onEntry = (entry: string): void => {
    const path = /^160000 \S+ \d\t(.*)$/s.exec(entry)?.[1]
    if (path !== undefined) paths.push(path)
  }
  await parent.git(['ls-files', '--stage', '-z'], onEntry, '\0')
  return paths
}

async function hasFile(directory: string, name: string): Promise<boolean> {
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
  const from = url === undefined ? '' : ` from ${withoutCredentials(url)}`
  return new BuildFailure(
    `${name} cannot be fetched${from} (${reason}): make it readable for this server (same host and credentials, or its ssh key), or remove it`,
    { cause },
  )
}

/** What may be shown of an address that may be none: in that, all before the last `@` may be a secret. */
function withoutCredentials(text: string): string {
  if (parseRepositoryUrl(text) !== null) return splitCredentials(text).url
  const scheme = /^[a-z][a-z0-9+.-]*:\/\//i.exec(text)?.[0] ?? ''
  const rest = text.slice(Math.max(text.lastIndexOf('@') + 1, scheme.length))
  return (scheme + rest).slice(0, MAX_SHOWN_CHARACTERS)
}
