import { z } from 'zod'
import { queueSourceDeploy } from '../deploys/operations.ts'
import type { DeployRow } from '../deploys/store.ts'
import { AppError } from '../errors.ts'
import { commitFault, isBranchOrTag } from '../git/refs.ts'
import type { Unjudged } from '../http/endpoint.ts'
import { isId } from '../ids.ts'
import { imageFault, repositoryOf } from '../images/reference.ts'
import { sameSecret } from '../secrets.ts'
import { getService, type ServiceRow } from '../services/store.ts'

export const HookQuery = z.strictObject({
  key: z
    .string()
    .default('')
    .meta({
      description: "The service's deploy hook key",
      examples: ['5d2f6a804f1d0c9a7b3e5d2f6a804f1d0c9a7b3e'],
    }),
  ref: z
    .string()
    .optional()
    .meta({
      description: 'Commit of the configured branch, or name of a branch or tag, to deploy of a repository',
      examples: ['9fceb02'],
    }),
  image: z
    .string()
    .optional()
    .meta({
      description: 'Image to deploy: the configured path with another tag or digest',
      examples: ['registry.example.com/api:3'],
    }),
})

/** Who has no key is told so whatever else is wrong. Throws `unauthorized`. */
export function admitHooked({ params, query }: Unjudged): void {
  findHooked(params.service_id ?? '', typeof query.key === 'string' ? query.key : '')
}

/** The service whose hook has this key. Throws `unauthorized`, the same for an unknown service and for a wrong key. */
function findHooked(serviceId: string, key: string): ServiceRow {
  const service = isId('service', serviceId) ? getService(serviceId) : undefined
  // Compared also without a service, so that the time tells nothing.
  const matches = sameSecret(key, service?.deploy_hook_key ?? '')
  if (!service || !matches) throw new AppError('unauthorized', 'unknown service or wrong key')
  return service
}

/**
 * Queues the deploy that a hook asks for. Throws `unauthorized`, the same for an unknown service and for a wrong key,
 * `invalid_request` without a source or with a choice that does not fit it, `conflict` while it takes no deploys.
 */
export function runDeployHook(serviceId: string, query: z.output<typeof HookQuery>): DeployRow {
  const service = findHooked(serviceId, query.key)
  // Judged here and not by the contract: who has no key learns nothing else.
  if (query.ref !== undefined) {
    refuse('ref', refFault(query.ref))
    if (service.repo_url === null) refuse('ref', `service ${service.name} has no repository`)
  }
  if (query.image !== undefined) {
    refuse('image', imageFault(query.image))
    if (service.image === null)
      throw new AppError('invalid_request', `image: service ${service.name} has no image`)
    const configured = repositoryOf(service.image)
    if (repositoryOf(query.image) !== configured)
      throw new AppError('invalid_request', `image: must be ${configured} with another tag or digest`)
  }
  return queueSourceDeploy(service, 'deploy_hook', {
    ...(query.ref === undefined ? {} : { commit: query.ref }),
    ...(query.image === undefined ? {} : { image: query.image }),
  })
}

/** Which commits the branch contains is asked of the remote when the deploy runs. */
function refFault(ref: string): string | null {
  const isOffered = !ref.startsWith('refs/') || isBranchOrTag(ref)
  return (
    commitFault(ref) ?? (isOffered ? null : 'must be a branch, a tag, or a commit of the configured branch')
  )
}

function refuse(field: string, fault: string | null): void {
  if (fault !== null) throw new AppError('invalid_request', `${field}: ${fault}`)
}
