import { createHash, randomBytes } from 'node:crypto'
import { isIP } from 'node:net'
import { useContext } from '../context.ts'
import { isLocalName } from '../domains/names.ts'
import { AppError } from '../errors.ts'
import { randomHex } from '../ids.ts'
import { bareHost, isPublicAddress } from '../network/addresses.ts'
import { publicUrl } from '../network/public-address.ts'
import { withToken } from './credentials.ts'
import { beginFlow } from './flows.ts'
import { assertRoom, findConnection } from './operations.ts'
import { SCOPES } from './providers/gitlab.ts'
import { apiOf, gitHubOf } from './providers/index.ts'
import { normalBaseUrl, placeOf } from './providers/place.ts'
import { HALF_APPLICATION, isWhole, type AuthorizeInput } from './schema.ts'
import {
  getApplication,
  insertConnection,
  keepApplication,
  listConnections,
  openSecrets,
  updateConnection,
  type ConnectionRow,
} from './store.ts'

/** Where the browser goes next, if anywhere. */
export interface NextStep {
  status: 'redirect' | 'connected'
  method: 'get' | 'post'
  url: string | null
  fields: Record<string, string>
  connection: ConnectionRow
}

/** GitHub limits the names of apps to 34 characters, and they must be unique there. */
const NAME_BYTES = 3
const MAX_APP_NAME_CHARACTERS = 34
/** RFC 7636 section 4.1 asks for at least 43 characters. */
const VERIFIER_BYTES = 32

/** Begins or resumes an authorization in the browser. Throws `invalid_request`, `git_application_required`, `not_found`. */
export async function authorize(input: AuthorizeInput): Promise<NextStep> {
  const redirect = new URL(input.redirect_uri)
  const isNew = input.connection_id === undefined
  const connection = isNew ? begin(input) : findConnection(input.connection_id!)
  if (!isNew) assertSame(connection, input)
  if (connection.auth === 'oauth') return authorizeOAuth(connection, input, redirect, isNew)
  if (connection.auth === 'hosted_app') return authorizeApp(connection, redirect)
  await withToken(connection, (token) => apiOf(connection).ownerOf(token))
  return connected(connection)
}

/** The answer when there is no further step. */
export function connected(connection: ConnectionRow): NextStep {
  return { status: 'connected', method: 'get', url: null, fields: {}, connection }
}

/** The step in which the user chooses the repositories of an app. */
export function installStep(connection: ConnectionRow, redirectUri: string): NextStep {
  const state = beginFlow({ connectionId: connection.id, step: 'install', redirectUri })
  const url = `${connection.app_url}/installations/new?state=${state}`
  return { status: 'redirect', method: 'get', url, fields: {}, connection }
}

/** Returns a pending connection. One that was started in the same way and never finished is used again. */
function begin(input: AuthorizeInput): ConnectionRow {
  const provider = input.provider!
  const base_url = normalBaseUrl(provider, input.base_url ?? null)
  const { organization = null } = input
  const auth = provider === 'gitprov_a' ? 'hosted_app' : 'oauth'
  if (auth === 'oauth') applicationOf({ provider, base_url }, input)
  const left = listConnections().find(
    (row) =>
      row.status === 'pending' &&
      row.account === null &&
      row.app_id === null &&
      row.provider === provider &&
      row.base_url === base_url &&
      row.organization === organization,
  )
  if (left) return left
  assertRoom()
  return insertConnection({ provider, auth, status: 'pending', base_url, organization })
}

/** Refuses to change provider, base URL or organization of a connection by authorizing it again. */
function assertSame(connection: ConnectionRow, input: AuthorizeInput): void {
  const { provider } = connection
  const isOther =
    (input.provider !== undefined && input.provider !== provider) ||
    (input.base_url !== undefined && normalBaseUrl(provider, input.base_url) !== connection.base_url) ||
    (input.organization !== undefined && input.organization !== connection.organization)
  if (isOther)
    throw new AppError(
      'invalid_request',
      'connection_id: has another provider, base_url or organization: leave these out, or start a new connection',
    )
}

async function authorizeApp(connection: ConnectionRow, redirect: URL): Promise<NextStep> {
  const { app_id, installation_id } = connection
  if (app_id !== null && installation_id === null) return installStep(connection, redirect.href)
  if (app_id !== null && installation_id !== null) {
    const key = { id: app_id, privateKey: openSecrets(connection).private_key! }
    const found = await gitHubOf(connection)
      .installation(key, installation_id)
      .catch((error: unknown) => {
        // The app itself was removed, so another one is created.
        if (error instanceof AppError && error.code === 'git_authorization_rejected') return undefined
        throw error
      })
    if (found === null) return installStep(connection, redirect.href)
    if (found) return connected(connection)
  }
  const { web } = placeOf(connection)
  const state = beginFlow({ connectionId: connection.id, step: 'manifest', redirectUri: redirect.href })
  const owner = connection.organization === null ? '' : `/organizations/${connection.organization}`
  const url = `${web}${owner}/settings/apps/new?state=${state}`
  const fields = { manifest: JSON.stringify(manifestOf(redirect)) }
  return { status: 'redirect', method: 'post', url, fields, connection }
}

/** https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest */
function manifestOf(redirect: URL): object {
  const { dashboardHost } = useContext().options
  const own = dashboardHost === null ? null : publicUrl(dashboardHost)
  const origin = isOnInternet(redirect.origin) ? redirect.origin : own
  const name = `Deployer ${redirect.hostname}`.slice(0, MAX_APP_NAME_CHARACTERS - 2 * NAME_BYTES - 1)
  return {
    name: `${name} ${randomHex(NAME_BYTES)}`,
    url: origin ?? redirect.origin,
    redirect_url: redirect.href,
    setup_url: redirect.href,
    setup_on_update: true,
    public: false,
    default_permissions: { contents: 'read', metadata: 'read', statuses: 'write' },
    ...(origin !== null && isOnInternet(origin)
      ? { hook_attributes: { url: `${origin}/hooks/gitprov` }, default_events: ['push'] }
      : {}),
  }
}

/** Whether a provider on the internet can reach an origin, judging by its name. */
export function isOnInternet(origin: string): boolean {
  const host = bareHost(new URL(origin).hostname)
  if (isIP(host) !== 0) return isPublicAddress(host)
  return host.includes('.') && !isLocalName(host)
}

function authorizeOAuth(
  connection: ConnectionRow,
  input: AuthorizeInput,
  redirect: URL,
  isNew: boolean,
): Promise<NextStep> | NextStep {
  if (!isWhole(input)) throw new AppError('invalid_request', `client_id: ${HALF_APPLICATION}`)
  const application = applicationOf(connection, input)
  const wantsOther = input.client_id !== undefined
  if (!isNew && connection.status === 'connected' && !wantsOther)
    return reauthorizeOAuth(connection, redirect)
  return oauthStep(connection, application, redirect)
}

/** Leaves a working authorization as it is; sends a refused one through the browser again. */
async function reauthorizeOAuth(connection: ConnectionRow, redirect: URL): Promise<NextStep> {
  try {
    await withToken(connection, (token) => apiOf(connection).ownerOf(token))
    return connected(findConnection(connection.id))
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== 'git_authorization_rejected') throw error
    return oauthStep(connection, applicationOf(connection, {}), redirect)
  }
}

function oauthStep(connection: ConnectionRow, { client_id }: { client_id: string }, redirect: URL): NextStep {
  const verifier = randomBytes(VERIFIER_BYTES).toString('base64url')
  const state = beginFlow({
    connectionId: connection.id,
    step: 'oauth',
    redirectUri: redirect.href,
    verifier,
  })
  const query = new URLSearchParams({
    client_id,
    redirect_uri: redirect.href,
    response_type: 'code',
    scope: SCOPES.join(' '),
    state,
    code_challenge: createHash('sha256').update(verifier).digest('base64url'),
    code_challenge_method: 'S256',
  })
  const pending =
    connection.status === 'pending' ? updateConnection(connection.id, { client_id }) : connection
  const url = `${placeOf(connection).web}/oauth/authorize?${query.toString()}`
  return { status: 'redirect', method: 'get', url, fields: {}, connection: pending ?? connection }
}

/** The OAuth application of an instance: the given one is stored, a stored one is used again. */
function applicationOf(
  connection: Pick<ConnectionRow, 'provider' | 'base_url'>,
  { client_id, client_secret }: Pick<AuthorizeInput, 'client_id' | 'client_secret'>,
): { client_id: string; client_secret: string } {
  const { web, title } = placeOf(connection)
  if (client_id !== undefined && client_secret !== undefined) {
    keepApplication({ base_url: web, client_id, client_secret })
    return { client_id, client_secret }
  }
  const known = getApplication(web)
  if (known) return known
  throw new AppError(
    'git_application_required',
    `client_id: ${title} needs an OAuth application with the scopes ${SCOPES.join(' and ')}: give its client_id and client_secret`,
  )
}
