import { join } from 'node:path'
import { z } from 'zod'
import { useContext } from '../context.ts'
import { noteBlueprintPush } from '../blueprints/synced.ts'
import { queueSourceDeploy } from '../deploys/operations.ts'
import type { DeployRow } from '../deploys/store.ts'
import { AppError, messageOf } from '../errors.ts'
import { loseInstallation, refreshInstallation } from '../git/callback.ts'
import { isFollowed } from '../git/refs.ts'
import { repositoryKey } from '../git/same-repository.ts'
import type { ConnectionRow } from '../git/store.ts'
import { logger } from '../log.ts'
import { allServices, type ServiceRow } from '../services/store.ts'
import { touches } from '../services/watch-paths.ts'
import { recordDelivery, wasHandled } from './deliveries.ts'
import { withIntake, type Intake } from './intake.ts'
import { logDelivery, type DeliveryFacts } from './log.ts'
import { readPush, skipPhrase, type Push } from './push.ts'
import { hookSecrets, mayDeploy, type HookSecret } from './secrets.ts'
import { header, provedBy, readProof, type Headers } from './signature.ts'

const log = logger('hooks')

/** The folder in the data directory that holds large deliveries while they are received. */
const DELIVERIES_FOLDER = 'deliveries'

/** The push event of GitHub, Gitea and Forgejo, and the two of GitLab: one for branches, one for tags. */
const PUSHES = ['push', 'Push Hook', 'Tag Push Hook']

/** The result of a delivery. */
export type Delivered =
  'pong' | { ignored: string; mayComeAgain?: boolean } | { deploys: DeployRow[]; reason: string | null }

/**
 * Handles a delivery of the push webhook. The body is received only if the headers can be right, and parsed only once it is
 * authenticated. Throws `not_found` while no secret is set, `unauthorized` for a missing or wrong signature, and
 * `invalid_request` for an invalid payload. When an internal error prevented all deploys, that error is thrown, and the
 * delivery may be sent again.
 */
export async function handleDelivery(
  headers: Headers,
  receive: () => AsyncIterable<Buffer>,
): Promise<Delivered> {
  const { dataDirectory } = useContext().options
  const secrets = hookSecrets()
  if (secrets.length === 0)
    throw new AppError(
      'not_found',
      'the push webhook is not enabled: connect an account whose app has one, or set --webhook-secret-file',
    )
  const facts = factsOf(headers)
  const proof = readProof(secrets, headers)
  if (!proof) throw refuse(facts)
  const texts = secrets.map(({ text }) => text)
  return withIntake(receive(), texts, join(dataDirectory, DELIVERIES_FOLDER), (intake) => {
    const [secret] = provedBy(proof, secrets, intake.hmacs)
    if (!secret) throw refuse(facts)
    try {
      const delivered = judge(facts, secret, headers, intake)
      logDelivered(facts, delivered)
      return delivered
    } catch (error) {
      logDelivery({ ...facts, verdict: 'refused', reason: reasonOf(error) })
      throw error
    }
  })
}

/** What the headers say. The rest is filled in as the payload is read. */
function factsOf(headers: Headers): DeliveryFacts {
  return {
    event: header(headers, 'x-hook-event', 'x-github-event', 'x-gitea-event', 'x-gitlab-event'),
    delivery: header(
      headers,
      'x-hook-delivery',
      'x-github-delivery',
      'x-gitea-delivery',
      'x-gitlab-event-uuid',
    ),
    repository: null,
    ref: null,
    commit: null,
    verdict: 'ignored',
    reason: null,
    deploys: [],
  }
}

function judge(facts: DeliveryFacts, secret: HookSecret, headers: Headers, intake: Intake): Delivered {
  const { event } = facts
  if (event === 'ping') return 'pong'
  if (event === 'installation' || event === 'installation_repositories')
    return noteInstallation(secret.connection, parsePayload(headers, intake.read()))
  if (!PUSHES.includes(event ?? ''))
    return { ignored: `${event === null ? 'an event without a name' : `the event ${event}`} is not a push` }
  const push = readPush(parsePayload(headers, intake.read()))
  if ('ignored' in push) return push
  Object.assign(facts, { repository: push.name, ref: push.ref, commit: push.after })
  if (wasHandled(intake.digest, facts.delivery)) return { ignored: 'this delivery was already handled' }
  const delivered = deployPushed(push, secret.connection)
  // Recorded last, so that a push that failed halfway, or that came before its service existed, can be delivered again.
  if (!('mayComeAgain' in delivered)) recordDelivery(intake.digest, facts.delivery)
  return delivered
}

const InstallationEvent = z.object({
  action: z.string(),
  installation: z.object({ id: z.int() }),
})

/** Handles GitHub's events about installations: an app was installed, removed, or given access to other repositories. */
function noteInstallation(connection: ConnectionRow | null, payload: unknown): Delivered {
  const event = InstallationEvent.safeParse(payload)
  if (!event.success)
    throw new AppError(
      'invalid_request',
      'the payload is not an installation event: it has no action and installation',
    )
  if (connection === null) return { ignored: 'the event comes from an app that this server does not know' }
  const { action, installation } = event.data
  if (action === 'deleted' && installation.id === connection.installation_id) {
    void loseInstallation(connection)
    return { ignored: 'the app was removed: authorize its connection again' }
  }
  // Not awaited: the provider may not answer us before we have answered this delivery.
  refreshInstallation(connection.id, installation.id).catch((error: unknown) =>
    log.warn('an installation could not be refreshed', {
      connection: connection.id,
      error: messageOf(error),
    }),
  )
  return { ignored: 'the connection is being refreshed' }
}

function refuse(facts: DeliveryFacts): AppError {
  const reason = 'the signature is missing or wrong'
  logDelivery({ ...facts, verdict: 'refused', reason })
  return new AppError('unauthorized', reason)
}

function logDelivered(facts: DeliveryFacts, delivered: Delivered): void {
  if (delivered === 'pong') logDelivery({ ...facts, reason: 'ping: the webhook works' })
  else if ('ignored' in delivered) logDelivery({ ...facts, reason: delivered.ignored })
  else {
    const deploys = delivered.deploys.map(({ id }) => id)
    logDelivery({ ...facts, verdict: 'deployed', reason: delivered.reason, deploys })
  }
}

function reasonOf(error: unknown): string {
  return error instanceof AppError ? error.message : 'internal error: see the server log'
}

function deployPushed(push: Push, connection: ConnectionRow | null): Exclude<Delivered, 'pong'> {
  const matching = allServices().filter((service) => deploysPush(service, push, connection))
  const phrase = skipPhrase(push.message)
  const blueprints = phrase === null ? noteBlueprintPush(push, (url) => mayDeploy(connection, url)) : []
  if (matching.length === 0 && blueprints.length === 0)
    return {
      ignored: `no service deploys the ${push.kind} ${push.branch} of this repository on push`,
      mayComeAgain: true,
    }
  if (phrase !== null) return { ignored: `the commit's message says ${phrase}` }
  const services = matching.filter((service) => isWatched(service, push))
  const reasons = matching
    .filter((service) => !services.includes(service))
    .map(({ name }) => `the push changes no file that service ${name} watches`)
  const deploys: DeployRow[] = []
  let fault: Error | undefined
  for (const service of services) {
    try {
      deploys.push(queueSourceDeploy(service, 'webhook', { commit: push.after, branch: push.branch }))
    } catch (error) {
      // A service that accepts no deploys now must not keep the others from theirs.
      if (error instanceof AppError) reasons.push(error.message)
      else {
        fault = error as Error
        log.error('a push could not be deployed', { service: service.id, error: messageOf(error) })
        reasons.push(`service ${service.name} could not be deployed: see the server log`)
      }
    }
  }
  if (deploys.length === 0 && fault) throw fault
  if (deploys.length === 0 && blueprints.length === 0) return { ignored: reasons.join('; ') }
  if (deploys.length === 0) reasons.unshift(`blueprint ${blueprints.join(', ')} is being checked for changes`)
  return { deploys, reason: reasons.length > 0 ? reasons.join('; ') : null }
}

function deploysPush(service: ServiceRow, push: Push, connection: ConnectionRow | null): boolean {
  if (!service.auto_deploy || service.repo_url === null || !isFollowed(service.branch, push)) return false
  const key = repositoryKey(service.repo_url)
  return key !== null && push.repositories.has(key) && mayDeploy(connection, service.repo_url)
}

/** Whether a push changes a file that the service watches; assumed so when the payload does not list all files. */
function isWatched({ watch_paths }: ServiceRow, push: Push): boolean {
  if (watch_paths === null) return true
  const files = push.files()
  return files === null || touches(JSON.parse(watch_paths) as string[], files)
}

function parsePayload(headers: Headers, body: Buffer): unknown {
  const text = body.toString('utf8')
  const isForm = /^application\/x-www-form-urlencoded\b/i.test(header(headers, 'content-type') ?? '')
  const json = isForm ? new URLSearchParams(text).get('payload') : text
  try {
    return JSON.parse(json ?? '')
  } catch (cause) {
    throw new AppError('invalid_request', `the payload is not valid JSON: ${messageOf(cause)}`, { cause })
  }
}
