import { join } from 'node:path'
import { useContext } from '#server/context.ts'
import { ownReach } from '#server/reach/judged.ts'
import { servingConnection } from '#server/git/serving.ts'
import { splitCredentials } from '#server/git/url.ts'
import type { RemoteAccess } from './git-remote.ts'
import { lsRemote } from './refs.ts'

/** How this server reaches a remote. */
export function remoteAccess(url: string): RemoteAccess {
  const { dataDirectory } = useContext().options
  return {
    url,
    reach: ownReach(),
    sshKeyFile: join(dataDirectory, 'ssh', 'id_ed25519'),
    knownHostsFile: join(dataDirectory, 'ssh', 'known_hosts'),
  }
}

/**
 * The branches of a repository, read from the remote now the way a deploy would clone it. Throws `git_remote_unreachable`,
 * `git_authorization_rejected`, `git_provider_unavailable`.
 */
export async function readBranches(
  url: string,
): Promise<{ branches: string[]; default_branch: string | null; connection_id: string | null }> {
  const { username, password } = splitCredentials(url)
  const serving = username === null && password === null ? await servingConnection(url) : null
  const listed = await lsRemote({ ...remoteAccess(url), credentials: serving?.credentials ?? null })
  return { ...listed, connection_id: serving?.connection.id ?? null }
}
