import { join } from 'node:path'
import { plainPath } from '#server/blueprints/foreign.ts'
import { MAX_YAML_BYTES } from '#server/blueprints/yaml.ts'
import type { RepositoryFile } from '#server/blueprints/synced-schema.ts'
import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import { servingConnection } from '#server/git/serving.ts'
import { splitCredentials } from '#server/git/url.ts'
import { randomHex } from '#server/ids.ts'
import { Slots } from '#server/work/slots.ts'
import { BuildFailure } from '#plans/index.ts'
import { remoteAccess } from '../sources/branches.ts'
import { fetchCommit, type CommitChoice } from '../sources/fetch.ts'
import { withRemote, type Remote } from '../sources/git-remote.ts'
import { RemoteFault } from '../sources/remote-fault.ts'
import { listRefs } from '../sources/refs.ts'
import { clearTree } from '../sources/remove-tree.ts'
import { Repository } from '../sources/repository.ts'
import { withinSize } from '../sources/size-watch.ts'

/** Where a blueprint is looked for when no path is given. */
const USUAL_PATHS = ['deployer.yaml', 'render.yaml']
/** A user may be waiting for the answer; only a very large repository takes longer. */
const TIMEOUT_MS = 120_000
/** Each read runs a git of its own, in addition to those of deploys. */
const READS_AT_ONCE = 2
const NAME_BYTES = 10

const slots = new Slots(READS_AT_ONCE)

/** The file to read, and its repository. */
export interface FileChoice extends CommitChoice {
  /** Includes its credentials. */
  url: string
  /** Null looks at the usual paths. */
  path: string | null
}

/**
 * Reads a blueprint from a repository, without checking out a tree. Throws `git_remote_unreachable` when the remote does
 * not answer, `git_authorization_rejected` when it refuses, `invalid_request` when it has no such commit or file.
 */
export function readRepositoryFile(choice: FileChoice): Promise<RepositoryFile> {
  return slots.run(() => read(choice))
}

async function read(choice: FileChoice): Promise<RepositoryFile> {
  const { options, stopping } = useContext()
  const directory = join(options.dataDirectory, 'checkouts', `blueprint-${randomHex(NAME_BYTES)}`)
  const timeout = AbortSignal.timeout(TIMEOUT_MS)
  const signal = AbortSignal.any([timeout, stopping])
  const { url, username, password } = splitCredentials(choice.url)
  const serving = username === null && password === null ? await servingConnection(url) : null
  const access = { ...remoteAccess(choice.url), credentials: serving?.credentials ?? null }
  const find = async (remote: Remote): Promise<RepositoryFile> => {
    const repository = new Repository(directory, remote)
    await repository.create()
    const { sha, branch } = await fetchCommit(repository, choice, () => {})
    const paths = choice.path === null ? USUAL_PATHS : [plainPath(choice.path)]
    // Without a branch, nothing has asked yet which one the remote's HEAD is.
    const followed = branch ?? (await listRefs(remote, ['HEAD'])).defaultBranch
    return { ...(await findFile(repository, sha, paths)), branch: followed, commit: sha }
  }
  try {
    return await withinSize({ directory, extra: { bytes: 0, files: 0 } }, signal, (limited) =>
      withRemote(access, limited, find),
    )
  } catch (error) {
    if (timeout.aborted)
      throw new AppError('git_remote_unreachable', `reading ${url} took longer than ${TIMEOUT_MS / 1_000} s`)
    if (error instanceof BuildFailure) throw new AppError('invalid_request', error.message, { cause: error })
    if (!(error instanceof RemoteFault)) throw error
    const code = error.kind === 'refused' ? 'git_authorization_rejected' : 'git_remote_unreachable'
    throw new AppError(code, error.message, { cause: error })
  } finally {
    await clearTree(directory)
  }
}

async function findFile(
  repository: Repository,
  sha: string,
  paths: readonly string[],
): Promise<{ path: string; yaml: string }> {
  for (const path of paths) {
    const listed = await repository.git(['ls-tree', '-l', '-z', '--full-tree', sha, '--', path])
    const [, mode, size] = /^(\d+) blob [0-9a-f]+ +(\d+)\t/.exec(listed) ?? []
    if (mode === undefined) continue
    if (!mode.startsWith('100')) throw new AppError('invalid_request', `path: ${path} is a link, not a file`)
    if (Number(size) > MAX_YAML_BYTES)
      throw new AppError(
        'payload_too_large',
        `${path} is larger than the ${MAX_YAML_BYTES / 1024 ** 2} MiB allowed here`,
      )
    return { path, yaml: await repository.git(['cat-file', 'blob', `${sha}:${path}`]) }
  }
  throw new AppError(
    'invalid_request',
    `path: ${repository.remote.url} has no file ${paths.join(' or ')} at commit ${sha.slice(0, 12)}`,
  )
}
