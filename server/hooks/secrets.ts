import { useContext } from '../context.ts'
import { pathAt, placeOf } from '../git/providers/place.ts'
import { listConnections, openSecrets, type ConnectionRow } from '../git/store.ts'
import { parseRepositoryUrl } from '../git/url.ts'
import { bareHost } from '../network/addresses.ts'

/**
 * A secret that deliveries are signed with, and whose it is: the app of a connection, or null for the server's own secret.
 */
export interface HookSecret {
  text: string
  connection: ConnectionRow | null
}

/** All secrets that a delivery may be signed with now. */
export function hookSecrets(): HookSecret[] {
  const { webhookSecret } = useContext().options
  const own = webhookSecret === null ? [] : [{ text: webhookSecret, connection: null }]
  const theirs = listConnections().flatMap((connection) => {
    const text = connection.push_events === 1 ? openSecrets(connection).webhook_secret : undefined
    return text === undefined ? [] : [{ text, connection }]
  })
  return [...own, ...theirs]
}

/** Whether a delivery from an app may deploy the repository at this address: only repositories of the app's own provider. */
export function mayDeploy(connection: ConnectionRow | null, repositoryUrl: string): boolean {
  if (connection === null) return true
  const place = placeOf(connection)
  const parsed = parseRepositoryUrl(repositoryUrl)
  if (parsed === null) return false
  // ssh and the git protocol use another port than the provider's pages, so only host names are compared.
  const isWeb = parsed.protocol === 'http' || parsed.protocol === 'https'
  return isWeb ? pathAt(place, repositoryUrl) !== null : parsed.host === bareHost(new URL(place.web).hostname)
}
