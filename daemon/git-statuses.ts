import { onChange } from '#server/changes.ts'
import { useContext } from '#server/context.ts'
import type { DeploySource, DeployTrigger } from '#server/deploys/schema.ts'
import type { DeployStatus } from '#server/deploys/states.ts'
import { getDeploy, type DeployRow } from '#server/deploys/store.ts'
import { listEnvironments } from '#server/environments/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { isOnInternet } from '#server/git/authorize.ts'
import { withToken } from '#server/git/credentials.ts'
import type { CommitState } from '#server/git/providers/api.ts'
import { apiOf } from '#server/git/providers/index.ts'
import { isFullCommit } from '#server/git/refs.ts'
import { servingConnection } from '#server/git/serving.ts'
import { logger } from '#server/log.ts'
import { noteInLog } from '#server/logs/files.ts'
import { publicUrl } from '#server/network/public-address.ts'
import { qualifiedName } from '#server/services/qualified-name.ts'
import { getService, type ServiceRow } from '#server/services/store.ts'

const log = logger('git')

/** These deploy no commit anew. */
const OF_AN_IMAGE: ReadonlySet<DeployTrigger> = new Set(['restart', 'rollback'])

/** What a provider is told of a deploy in each status; nothing of one that another has replaced. */
const STATES: Record<DeployStatus, { state: CommitState; description: string } | null> = {
  queued: { state: 'pending', description: 'The deploy is under way' },
  building: { state: 'pending', description: 'The deploy is under way' },
  deploying: { state: 'pending', description: 'The deploy is under way' },
  live: { state: 'success', description: 'Live' },
  build_failed: { state: 'failure', description: 'The build failed' },
  deploy_failed: { state: 'failure', description: 'The deploy failed' },
  canceled: { state: 'canceled', description: 'The deploy was canceled' },
  deactivated: null,
}

/**
 * Tells providers how far the deploys of their commits are, as well as it can: what a stop of the server or a provider that
 * is away cuts off is not told again. Answers what ends it.
 */
export function tellCommitStatuses(): () => void {
  /** What each deploy that is under way was told as, and the telling that the next waits for. */
  const told = new Map<string, { state: CommitState; done: Promise<void> }>()
  return onChange(({ kind, id, action }) => {
    if (kind !== 'deploy') return
    if (action === 'deleted') told.delete(id)
    const deploy = getDeploy(id)
    const sha = deploy && commitOf(deploy)
    const status = deploy && STATES[deploy.status]
    if (!deploy || !sha || !status) return
    const former = told.get(id)
    if (former?.state === status.state) return
    const done = (former?.done ?? Promise.resolve()).then(() => tellStatus(deploy, sha, status))
    told.set(id, { state: status.state, done })
    if (status.state !== 'pending') void done.then(() => told.delete(id))
  })
}

/** The commit that a deploy is of, once it is known; null when it is of none, or its address has credentials of its own. */
function commitOf(deploy: DeployRow): string | null {
  const source = JSON.parse(deploy.source) as DeploySource
  const isOfCommit =
    source.kind === 'git' && deploy.repo_credentials === null && !OF_AN_IMAGE.has(deploy.trigger)
  if (!isOfCommit) return null
  const named = source.commit !== null && isFullCommit(source.commit) ? source.commit.toLowerCase() : null
  return deploy.commit_sha ?? named
}

async function tellStatus(
  deploy: DeployRow,
  sha: string,
  { state, description }: { state: CommitState; description: string },
): Promise<void> {
  const service = getService(deploy.service_id)
  const { repo_url } = JSON.parse(deploy.source) as DeploySource
  if (!service || repo_url === null) return
  try {
    const serving = await servingConnection(repo_url)
    if (!serving) return
    const { connection, path } = serving
    const status = { state, context: contextOf(service), description, url: pageOf(deploy) }
    await withToken(connection, (token) => apiOf(connection).tellStatus(token, path, sha, status))
  } catch (error) {
    if (state === 'pending' && error instanceof AppError)
      await noteInLog(deploy.id, `the commit gets no status: ${error.message}`).catch(() => {})
    log.info('a commit got no status', { deploy: deploy.id, error: messageOf(error) })
  }
}

/** What tells the statuses of one service from those of others at the same commit. */
function contextOf(service: ServiceRow): string {
  const environment = listEnvironments().find(({ id }) => id === service.environment_id)
  return `deployer/${environment ? qualifiedName(service.name, environment) : service.name}`
}

/** Where a person on the internet reads more. */
function pageOf({ id, service_id }: DeployRow): string | null {
  const { dashboardHost } = useContext().options
  const origin = dashboardHost === null ? null : publicUrl(dashboardHost)
  return origin !== null && isOnInternet(origin) ? `${origin}/services/${service_id}/deploys/${id}` : null
}
