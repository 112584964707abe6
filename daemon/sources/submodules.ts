import { lstat, readdir, rm } from 'node:fs/promises'
import { join, relative } from 'node:path'
import { BuildFailure } from '../builds/failure.ts'
import { GitError } from './git-command.ts'
import { lastWords } from './git-remote.ts'

/**
 * Fetches the submodules of a tree that was checked out, and theirs, where it has any. `runInTree` runs git there.
 * Throws BuildFailure that names the submodule.
 */
export async function fetchSubmodules(
  directory: string,
  runInTree: (command: string[]) => Promise<string>,
  onLine: (line: string) => void,
): Promise<void> {
  const isListed = await lstat(join(directory, '.gitmodules')).then(
    (facts) => facts.isFile(),
    () => false,
  )
  if (!isListed) return
  onLine('fetching submodules')
  const update = ['submodule', '--quiet', 'update', '--init', '--recursive', '--force']
  try {
    await runInTree([...update, '--depth=1']).catch(async (error: unknown) => {
      const isShallowFault =
        error instanceof GitError && /did not contain|not our ref|unadvertised/.test(error.messages)
      if (!isShallowFault) throw error
      await runInTree(update)
    })
  } catch (error) {
    if (!(error instanceof GitError)) throw error
    throw submoduleFault(error, directory)
  }
  await removeGitFiles(directory)
}

function submoduleFault(error: GitError, directory: string): BuildFailure {
  const url = /clone of '([^']*)' into submodule path/.exec(error.messages)?.[1]
  const path = /submodule path '([^']*)'/.exec(error.messages)?.[1]
  const name =
    path === undefined
      ? 'a submodule'
      : `the submodule ${path.startsWith(directory) ? relative(directory, path) : path}`
  const from = url === undefined ? '' : ` from ${url}`
  const detail = error.messages
    .split('\n')
    .find((line) => /^(fatal|remote|ERROR): /.test(line) && !/submodule path/.test(line))
  const reason = detail ?? lastWords(error)
  return new BuildFailure(
    `${name} cannot be fetched${from} (${reason}): make it readable for this server (same host and credentials, or its ssh key), or remove it`,
    { cause: error },
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
