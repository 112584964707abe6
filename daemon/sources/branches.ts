import { join } from 'node:path'
import { useContext } from '#server/context.ts'
import { ownReach } from '#server/network/judged.ts'
import { servingConnection, type Serving } from '#server/git/serving.ts'
import { splitCredentials } from '#server/git/url.ts'
import type { RemoteAccess } from './git-remote.ts'
import type { CheckoutRequest } from './git.ts'
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
 * The same for a checkout, which also keeps what it fetches: separately for each connection and for each name and password
 * in a URL, so that nobody gets what was fetched with the credentials of others.
 */
export function checkoutAccess(
  url: string,
  serving: Serving | null,
): Pick<CheckoutRequest, keyof RemoteAccess | 'mirrors' | 'holder'> {
  const { options, vault } = useContext()
  const { username, password } = splitCredentials(url)
  const isOwn = username !== null || password !== null
  return {
    ...remoteAccess(url),
    credentials: serving?.credentials ?? null,
    mirrors: mirrorsFolder(options.dataDirectory),
    holder: isOwn ? vault.fingerprint(JSON.stringify([username, password])) : (serving?.connection.id ?? ''),
  }
}

/** The folder with the mirrors. */
export function mirrorsFolder(dataDirectory: string): string {
  return join(dataDirectory, 'mirrors')
}

/**
 * The branches of a repository, read from the remote with the access that a deploy would use. Throws
 * `git_remote_unreachable`, `git_authorization_rejected`, `git_provider_unavailable`.
 */
export async function readBranches(
  url: string,
): Promise<{ branches: string[]; default_branch: string | null; connection_id: string | null }> {
  const { username, password } = splitCredentials(url)
  const serving = username === null && password === null ? await servingConnection(url) : null
  const listed = await lsRemote({ ...remoteAccess(url), credentials: serving?.credentials ?? null })
  return { ...listed, connection_id: serving?.connection.id ?? null }
}
