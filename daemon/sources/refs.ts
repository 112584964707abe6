import { AppError } from '#server/errors.ts'
import { parseRepositoryUrl } from '#server/git/url.ts'
import { withRemote, type Remote, type RemoteAccess } from './git-remote.ts'
import { RemoteFault } from './remote-fault.ts'
import { runAt } from './repository.ts'

/** A remote that takes longer to list its refs counts as unreachable, since a user waits for the answer. */
const LISTING_TIMEOUT_MS = 30_000

/** The refs of a remote. */
export interface RemoteRefs {
  /** Full ref names, with the object that each points to. */
  refs: Map<string, string>
  /** The branch that HEAD points to, or null. */
  defaultBranch: string | null
}

/** Reads the refs of a remote that match the patterns (git-ls-remote(1)). Throws GitError. */
export async function listRefs(remote: Remote, patterns: string[]): Promise<RemoteRefs> {
  const output = await runAt([], remote, ['ls-remote', '--symref', '--', remote.url, ...patterns])
  const refs = new Map<string, string>()
  let defaultBranch: string | null = null
  for (const line of output.split('\n')) {
    const [object, name] = line.split('\t')
    if (!object || !name) continue
    const symbolic = /^ref: refs\/heads\/(.+)$/.exec(object)
    if (symbolic && name === 'HEAD') defaultBranch = symbolic[1]!
    else if (/^[0-9a-f]{40,64}$/.test(object)) refs.set(name, object)
  }
  return { refs, defaultBranch }
}

/** The names of the branches among the refs. */
export function branchNames({ refs }: RemoteRefs): string[] {
  return [...refs.keys()]
    .filter((name) => name.startsWith('refs/heads/'))
    .map((name) => name.slice('refs/heads/'.length))
}

/**
 * The branches of a remote and its default branch, read from the remote now. An empty repository has none. Throws
 * `git_remote_unreachable`, or `git_authorization_rejected` when it requires other credentials; the message says why and
 * what to do.
 */
export async function lsRemote(
  access: RemoteAccess & { signal?: AbortSignal },
): Promise<{ branches: string[]; default_branch: string | null }> {
  const timeout = AbortSignal.timeout(LISTING_TIMEOUT_MS)
  const signal = access.signal ? AbortSignal.any([access.signal, timeout]) : timeout
  try {
    const refs = await withRemote(access, signal, (remote) => listRefs(remote, ['HEAD', 'refs/heads/*']))
    const branches = branchNames(refs)
    return {
      branches,
      default_branch:
        refs.defaultBranch !== null && branches.includes(refs.defaultBranch) ? refs.defaultBranch : null,
    }
  } catch (cause) {
    if (timeout.aborted) {
      throw new AppError(
        'git_remote_unreachable',
        `the host ${parseRepositoryUrl(access.url)?.host} did not answer within ${LISTING_TIMEOUT_MS / 1_000} s: try again`,
        { cause },
      )
    }
    if (!(cause instanceof RemoteFault)) throw cause
    const code = cause.kind === 'refused' ? 'git_authorization_rejected' : 'git_remote_unreachable'
    throw new AppError(code, cause.message, { cause })
  }
}
