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

/** These triggers run an image again; they do not deploy a commit. */
const RUNS_IMAGE_AGAIN: ReadonlySet<DeployTrigger> = new Set(['restart', 'rollback'])

/** How many deploys' reports are remembered: a deploy changes for the last time soon after its end, once its old instances are gone. */
const MAX_REMEMBERED = 1_000

/** The commit status that a provider gets for each deploy status; none for a deploy that another has replaced. */
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
 * Reports to git providers how far the deploys of their commits are. Best effort: a status that is lost because the server
 * stops or the provider does not answer is not sent again. Returns a function that ends the reporting.
 */
export function reportCommitStatuses(): () => void {
  /** The last state reported for each of the newest deploys, and the request that the next one waits for. */
  const reported = new Map<string, { state: CommitState; done: Promise<void> }>()
  return onChange(({ kind, id }) => {
    if (kind !== 'deploy') return
    const deploy = getDeploy(id)
    const sha = deploy && commitOf(deploy)
    const status = deploy && STATES[deploy.status]
    if (!deploy || !sha || !status) return
    const former = reported.get(id)
    if (former?.state === status.state) return
    const done = (former?.done ?? Promise.resolve()).then(() => reportStatus(deploy, sha, status))
    reported.set(id, { state: status.state, done })
    if (reported.size > MAX_REMEMBERED) reported.delete(reported.keys().next().value!)
  })
}

/** The commit of a deploy, once it is known; null without a commit, or when the repository's URL has its own credentials. */
function commitOf(deploy: DeployRow): string | null {
  const source = JSON.parse(deploy.source) as DeploySource
  const isOfCommit =
    source.kind === 'git' && deploy.repo_credentials === null && !RUNS_IMAGE_AGAIN.has(deploy.trigger)
  if (!isOfCommit) return null
  const named = source.commit !== null && isFullCommit(source.commit) ? source.commit.toLowerCase() : null
  return deploy.commit_sha ?? named
}

async function reportStatus(
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
    await withToken(connection, (token) => apiOf(connection).reportStatus(token, path, sha, status))
  } catch (error) {
    if (state === 'pending' && error instanceof AppError)
      await noteInLog(deploy.id, `the commit status cannot be set: ${error.message}`).catch(() => {})
    log.info('a commit status could not be set', { deploy: deploy.id, error: messageOf(error) })
  }
}

/** The name that keeps the statuses of services apart at the same commit. */
function contextOf(service: ServiceRow): string {
  const environment = listEnvironments().find(({ id }) => id === service.environment_id)
  return `deployer/${environment ? qualifiedName(service.name, environment) : service.name}`
}

/** The deploy's page; null when it cannot be reached from the internet. */
function pageOf({ id, service_id }: DeployRow): string | null {
  const { dashboardHost } = useContext().options
  const origin = dashboardHost === null ? null : publicUrl(dashboardHost)
  return origin !== null && isOnInternet(origin) ? `${origin}/services/${service_id}/deploys/${id}` : null
}
