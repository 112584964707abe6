import { useDatabase } from '../context.ts'
import { AppError } from '../errors.ts'
import { connected, installStep, type NextStep } from './authorize.ts'
import { forgetTokens, grantedColumns } from './credentials.ts'
import { takeFlow, type Flow } from './flows.ts'
import { connectionOf, findConnection, ownerColumns } from './operations.ts'
import { gitHubOf, gitLabOf } from './providers/index.ts'
import type { AppKey, Installation } from './providers/github.ts'
import { placeOf } from './providers/place.ts'
import type { CallbackInput } from './schema.ts'
import {
  deleteConnectionRow,
  getApplication,
  listConnections,
  openSecrets,
  updateConnection,
  type ConnectionColumns,
  type ConnectionRow,
} from './store.ts'

/**
 * Continues with what the provider's redirect carries. Throws `invalid_request`, `not_found` for an installation that
 * belongs to no app of this server, `git_authorization_rejected` for an unknown, used or expired `state`, and what `ask`
 * throws.
 */
export async function handleCallback({ state, code, installation_id }: CallbackInput): Promise<NextStep> {
  if (state === undefined) {
    if (installation_id === undefined)
      throw new AppError('invalid_request', 'state: is required, unless installation_id is given')
    return connected(await refreshUnknown(installation_id))
  }
  if (code === undefined && installation_id === undefined)
    throw new AppError('invalid_request', 'code: is required, unless installation_id is given')
  const flow = takeFlow(state)
  const connection = flow && listConnections().find(({ id }) => id === flow.connectionId)
  if (!flow || !connection)
    throw new AppError(
      'git_authorization_rejected',
      'the state is unknown, already used, or more than an hour old: start again from the dashboard',
    )
  if (flow.step === 'install') return connected(await install(connection, needed(installation_id)))
  if (flow.step === 'manifest') return convert(connection, flow, needed(code))
  return connected(await exchange(connection, flow, needed(code)))
}

/** Refreshes an installation. When it is not known which connection it belongs to, asks the provider for each app. */
async function refreshUnknown(installationId: number): Promise<ConnectionRow> {
  const apps = listConnections().filter(({ app_id }) => app_id !== null)
  const known = apps.find(({ installation_id }) => installation_id === installationId)
  for (const connection of known ? [known] : apps) {
    const installation = await gitHubOf(connection).installation(keyOf(connection), installationId)
    if (installation) return settleInstallation(connection, installation)
  }
  throw new AppError('not_found', `no app of this server has an installation ${installationId}`)
}

/** Refreshes an installation of a connection's app. Sets the connection to pending when the installation is gone. */
export async function refreshInstallation(id: string, installationId: number): Promise<void> {
  const connection = findConnection(id)
  // An app of this server is installed once: an event about another installation does not concern this connection.
  if (connection.installation_id !== null && connection.installation_id !== installationId) return
  const found = await gitHubOf(connection).installation(keyOf(connection), installationId)
  if (found) await settleInstallation(connection, found)
  else await loseInstallation(connection)
}

/** Sets a connection to pending whose installation is gone at the provider. */
export async function loseInstallation({ id }: Pick<ConnectionRow, 'id'>): Promise<void> {
  updateConnection(id, { status: 'pending', installation_id: null, manage_url: null })
  await forgetTokens(id)
}

async function convert(connection: ConnectionRow, flow: Flow, code: string): Promise<NextStep> {
  const app = await gitHubOf(connection).convertManifest(code)
  const webhookSecret = app.webhook_secret
  const kept = updateConnection(connection.id, {
    status: 'pending',
    app_id: app.id,
    app_slug: app.slug,
    app_url: app.html_url,
    client_id: app.client_id,
    installation_id: null,
    manage_url: null,
    push_events: webhookSecret === null ? 0 : 1,
    secrets: {
      private_key: app.pem,
      client_secret: app.client_secret,
      ...(webhookSecret === null ? {} : { webhook_secret: webhookSecret }),
    },
  })
  await forgetTokens(connection.id)
  return installStep(notRemoved(kept), flow.redirectUri)
}

async function install(connection: ConnectionRow, installationId: number): Promise<ConnectionRow> {
  if (connection.app_id === null)
    throw new AppError('invalid_request', 'installation_id: the connection has no app yet')
  const installation = await gitHubOf(connection).installation(keyOf(connection), installationId)
  if (!installation)
    throw new AppError('not_found', `the app ${connection.app_slug} has no installation ${installationId}`)
  return settleInstallation(connection, installation)
}

async function settleInstallation(
  connection: ConnectionRow,
  installation: Installation,
): Promise<ConnectionRow> {
  const settled = settle(connection, {
    status: 'connected',
    account: installation.account.login,
    account_name: installation.account.name ?? null,
    installation_id: installation.id,
    manage_url: installation.html_url,
    repository_selection: installation.repository_selection ?? null,
    scopes: JSON.stringify(
      Object.entries(installation.permissions).map(([what, access]) => `${what}:${access}`),
    ),
  })
  // A token keeps the permissions that it was issued with.
  await forgetTokens(settled.id)
  return settled
}

async function exchange(connection: ConnectionRow, flow: Flow, code: string): Promise<ConnectionRow> {
  const application = getApplication(placeOf(connection).web)
  if (!application)
    throw new AppError('git_application_required', 'client_id: the OAuth application is not known')
  const { client_id, client_secret } = application
  const gitLab = gitLabOf(connection)
  const granted = await gitLab.exchange({
    client_id,
    client_secret,
    code,
    redirect_uri: flow.redirectUri,
    code_verifier: flow.verifier!,
  })
  const owner = await gitLab.ownerOf(granted.accessToken)
  return settle(connection, {
    ...ownerColumns(owner),
    status: 'connected',
    client_id,
    ...grantedColumns({ client_secret }, granted),
  })
}

/**
 * Finishes a connection in one write. If its account was already connected, the older connection takes over its settings.
 */
function settle(connection: ConnectionRow, columns: ConnectionColumns): ConnectionRow {
  return useDatabase().transaction(() => {
    const now = notRemoved(listConnections().find(({ id }) => id === connection.id))
    const former = connectionOf({ ...now, account: columns.account ?? null })
    if (!former || former.id === now.id) return notRemoved(updateConnection(now.id, columns))
    const { id: _id, created_at: _created, updated_at: _updated, ...begun } = now
    deleteConnectionRow(now.id)
    return notRemoved(updateConnection(former.id, { ...begun, secrets: openSecrets(now), ...columns }))
  })
}

function keyOf(connection: ConnectionRow): AppKey {
  return { id: connection.app_id!, privateKey: openSecrets(connection).private_key! }
}

function needed<T>(value: T | undefined): T {
  if (value !== undefined) return value
  throw new AppError(
    'git_authorization_rejected',
    'the provider did not send back what was asked for: start again from the dashboard',
  )
}

function notRemoved(connection: ConnectionRow | undefined): ConnectionRow {
  if (connection) return connection
  throw new AppError('git_authorization_rejected', 'the git connection was removed in the meantime')
}
