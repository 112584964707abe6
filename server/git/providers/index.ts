import type { ConnectionRow } from '../store.ts'
import type { ProviderApi } from './api.ts'
import { GitHub } from './github.ts'
import { GitLab } from './gitlab.ts'
import { placeOf } from './place.ts'

/** The API of a connection's provider. */
export function apiOf(connection: Pick<ConnectionRow, 'provider' | 'base_url'>): ProviderApi {
  return connection.provider === 'gitprov_a' ? gitHubOf(connection) : gitLabOf(connection)
}

/** The API of a connection to GitHub. */
export function gitHubOf(connection: Pick<ConnectionRow, 'provider' | 'base_url'>): GitHub {
  return new GitHub(placeOf(connection))
}

/** The API of a connection to GitLab. */
export function gitLabOf(connection: Pick<ConnectionRow, 'provider' | 'base_url'>): GitLab {
  return new GitLab(placeOf(connection))
}
