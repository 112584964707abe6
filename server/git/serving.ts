import { listEnvironments } from '../environments/store.ts'
import { messageOf } from '../errors.ts'
import { logger } from '../log.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { allServices, type ServiceRow } from '../services/store.ts'
import { accessToken, otherToken, withToken } from './credentials.ts'
import type { RefusalStatus } from './providers/ask.ts'
import { apiOf } from './providers/index.ts'
import { pathAt, placeOf } from './providers/place.ts'
import { repositoryKey } from './same-repository.ts'
import { keepReader, listConnections, readersOfRepositories, type ConnectionRow } from './store.ts'

const log = logger('git')

/** The credentials that git gets for a repository. */
export interface GitCredentials {
  username: string
  password: string
  /** git sends them only to addresses below this one, such as `https://github.com/ada`. */
  place: string
  /** Set when `place` is a whole host: the address below which repositories belong to the credentials' own account. */
  own?: string
  /** Gets another password after one was refused; null when there is none. Throws what `accessToken` throws. */
  renew?: (refused: string, status: RefusalStatus) => Promise<string | null>
}

/** The connection for a repository address, and the credentials that git gets. */
export interface Serving {
  connection: ConnectionRow
  path: string
  credentials: GitCredentials
}

/**
 * Chooses the connection for an address: among those of its host, the one whose account owns the repository, or else the
 * newest one that can read it, as the provider says; null when there is none. Throws what `accessToken` throws, for the
 * owner's connection.
 */
export async function servingConnection(url: string): Promise<Serving | null> {
  const candidates = candidatesFor(url)
  const owner = candidates.find(isOwner)
  if (owner) return { ...owner, credentials: await credentialsOf(owner) }
  const key = repositoryKey(url)
  for (const candidate of candidates) {
    const credentials = await readingWith(candidate)
    if (credentials === null) continue
    if (key !== null) keepReader(key, candidate.connection.id)
    return { ...candidate, credentials }
  }
  if (key !== null && candidates.length > 0) keepReader(key, null)
  return null
}

/**
 * For each connection, the names of the services whose repository is cloned with it, as far as known without asking a
 * provider.
 */
export function servicesByConnection(): Map<string, string[]> {
  const readers = readersOfRepositories()
  const environments = new Map(listEnvironments().map((environment) => [environment.id, environment]))
  const served = new Map<string, string[]>()
  for (const service of allServices()) {
    const id = knownConnectionOf(service, readers)
    if (id === null) continue
    const name = qualifiedName(service.name, environments.get(service.environment_id)!)
    served.set(id, [...(served.get(id) ?? []), name])
  }
  return served
}

function knownConnectionOf(service: ServiceRow, readers: Map<string, string>): string | null {
  if (service.repo_url === null || service.repo_credentials !== null) return null
  const candidates = candidatesFor(service.repo_url)
  const owner = candidates.find(isOwner)
  if (owner) return owner.connection.id
  const reader = readers.get(repositoryKey(service.repo_url) ?? '')
  return candidates.find(({ connection }) => connection.id === reader)?.connection.id ?? null
}

interface Candidate {
  connection: ConnectionRow
  path: string
}

/** The connections to an address's host, the newest first. */
function candidatesFor(url: string): Candidate[] {
  return listConnections()
    .reverse()
    .flatMap((connection) => {
      const path = connection.status === 'connected' ? pathAt(placeOf(connection), url) : null
      return path === null ? [] : [{ connection, path }]
    })
}

function isOwner({ connection: { account }, path }: Candidate): boolean {
  return account !== null && path.toLowerCase().startsWith(`${account.toLowerCase()}/`)
}

/**
 * The credentials that git gets. For a repository of another owner they are limited to that owner's repositories: otherwise
 * a stranger's repository could name a private one of the account as a submodule, and get it into the stranger's build.
 */
async function credentialsOf(candidate: Candidate): Promise<GitCredentials> {
  const { connection, path } = candidate
  const { web } = placeOf(connection)
  const owner = `${web}/${path.split('/', 1)[0]}`
  const places = isOwner(candidate) ? { place: web, own: owner } : { place: owner }
  return {
    username: apiOf(connection).gitUser,
    password: await accessToken(connection),
    ...places,
    renew: (refused, status) => otherToken(connection, refused, status),
  }
}

/**
 * The credentials that git gets when the provider confirms that this connection can read the repository; null when it does
 * not.
 */
async function readingWith(candidate: Candidate): Promise<GitCredentials | null> {
  const { connection, path } = candidate
  try {
    const mayRead = await withToken(connection, (token) => apiOf(connection).canRead(token, path))
    return mayRead ? await credentialsOf(candidate) : null
  } catch (error) {
    log.info('a git connection could not be used for a repository', {
      connection: connection.id,
      error: messageOf(error),
    })
    return null
  }
}
