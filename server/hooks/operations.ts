import { join } from 'node:path'
import { useContext } from '../context.ts'
import { noteBlueprintPush } from '../blueprints/synced.ts'
import { queueSourceDeploy } from '../deploys/operations.ts'
import type { DeployRow } from '../deploys/store.ts'
import { AppError, messageOf } from '../errors.ts'
import { repositoryKey } from '../git/same-repository.ts'
import { logger } from '../log.ts'
import { allServices, type ServiceRow } from '../services/store.ts'
import { recordDelivery, wasTaken } from './deliveries.ts'
import { withIntake, type Intake } from './intake.ts'
import { readPush, skipPhrase, type Push } from './push.ts'
import { header, proves, readProof, type Headers } from './signature.ts'

const log = logger('hooks')

/** In the data directory: the files of large deliveries while they are received. */
const DELIVERIES_FOLDER = 'deliveries'

/** What a delivery led to. */
export type Delivered = 'pong' | { ignored: string } | { deploys: DeployRow[]; reason: string | null }

/**
 * Takes a delivery of the push webhook. Nothing of the body is received before the headers can be right, and nothing of
 * it parsed before it is proved. Throws `not_found` while no secret is set, `unauthorized` for a missing or wrong
 * signature, and `invalid_request` for what is no payload. When a fault of the server's own kept it from every deploy, that
 * fault is thrown and the delivery may be sent again.
 */
export async function takeDelivery(
  headers: Headers,
  receive: () => AsyncIterable<Buffer>,
): Promise<Delivered> {
  const { webhookSecret, dataDirectory } = useContext().options
  // Secrets of connected accounts' own applications will stand beside this one.
  if (webhookSecret === null)
    throw new AppError('not_found', 'the push webhook is not enabled: set --webhook-secret-file')
  const proof = readProof(webhookSecret, headers)
  if (!proof) throw unsigned()
  return withIntake(receive(), webhookSecret, join(dataDirectory, DELIVERIES_FOLDER), (intake) => {
    if (!proves(proof, intake.hmac)) throw unsigned()
    return judge(headers, intake)
  })
}

function judge(headers: Headers, intake: Intake): Delivered {
  const event = header(headers, 'x-hook-event', 'x-github-event', 'x-gitea-event', 'x-gitlab-event') ?? ''
  if (event === 'ping') return 'pong'
  if (event !== 'push' && event !== 'Push Hook')
    return { ignored: `the event ${event || 'without a name'} is no push` }
  const push = readPush(parsePayload(headers, intake.read()))
  if ('ignored' in push) return push
  const deliveryId = header(
    headers,
    'x-hook-delivery',
    'x-github-delivery',
    'x-gitea-delivery',
    'x-gitlab-event-uuid',
  )
  if (wasTaken(intake.digest, deliveryId)) return { ignored: 'this delivery was taken before' }
  const delivered = deployPushed(push)
  // Recorded last: a push that a crash or a fault cut off can be delivered again.
  recordDelivery(intake.digest, deliveryId)
  return delivered
}

function unsigned(): AppError {
  return new AppError('unauthorized', 'the signature is missing or wrong')
}

function deployPushed(push: Push): Delivered {
  const services = allServices().filter((service) => isMeant(service, push))
  const phrase = skipPhrase(push.message)
  const blueprints = phrase === null ? noteBlueprintPush(push) : []
  if (services.length === 0)
    return blueprints.length > 0
      ? { deploys: [], reason: `the blueprint ${blueprints.join(', ')} is looked at` }
      : { ignored: `no service deploys the branch ${push.branch} of this repository on push` }
  if (phrase !== null) return { ignored: `the commit's message says ${phrase}` }
  const deploys: DeployRow[] = []
  const reasons: string[] = []
  let fault: Error | undefined
  for (const service of services) {
    try {
      deploys.push(queueSourceDeploy(service, 'webhook', { commit: push.after, branch: push.branch }))
    } catch (error) {
      // One that takes no deploys now keeps no other from its own.
      if (error instanceof AppError) reasons.push(error.message)
      else {
        fault = error as Error
        log.error('a push could not be deployed', { service: service.id, error: messageOf(error) })
        reasons.push(`service ${service.name} could not be deployed: see the server log`)
      }
    }
  }
  if (deploys.length === 0 && fault) throw fault
  if (deploys.length === 0) return { ignored: reasons.join('; ') }
  return { deploys, reason: reasons.length > 0 ? reasons.join('; ') : null }
}

function isMeant(service: ServiceRow, { branch, defaultBranch, repositories }: Push): boolean {
  if (!service.auto_deploy || service.repo_url === null) return false
  const key = repositoryKey(service.repo_url)
  return key !== null && repositories.has(key) && (service.branch ?? defaultBranch) === branch
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
