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
      description: 'Commit of the configured branch, or name of a branch or tag, to deploy',
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

/** Callers without a valid key always get 401, before any other error. Throws `unauthorized`. */
export function admitHooked({ params, query }: Unjudged): void {
  findHooked(params.service_id ?? '', typeof query.key === 'string' ? query.key : '')
}

/** The service whose hook has this key. Throws `unauthorized`, the same for an unknown service and for a wrong key. */
function findHooked(serviceId: string, key: string): ServiceRow {
  const service = isId('service', serviceId) ? getService(serviceId) : undefined
  // Compared even without a service, so that the response time reveals nothing.
  const matches = sameSecret(key, service?.deploy_hook_key ?? '')
  if (!service || !matches) throw new AppError('unauthorized', 'unknown service or wrong key')
  return service
}

/**
 * Queues the deploy that a hook requests. Throws `unauthorized`, the same for an unknown service and for a wrong key,
 * `invalid_request` without a source or with a `ref` or `image` that does not fit it, `conflict` while the service accepts
 * no deploys.
 */
export function runDeployHook(serviceId: string, query: z.output<typeof HookQuery>): DeployRow {
  const service = findHooked(serviceId, query.key)
  // Checked here and not by the contract: a caller without the key must not get any other error.
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

/** Whether the branch contains a commit is checked against the remote when the deploy runs. */
function refFault(ref: string): string | null {
  const isAllowed = !ref.startsWith('refs/') || isBranchOrTag(ref)
  return (
    commitFault(ref) ?? (isAllowed ? null : 'must be a branch, a tag, or a commit of the configured branch')
  )
}

function refuse(field: string, fault: string | null): void {
  if (fault !== null) throw new AppError('invalid_request', `${field}: ${fault}`)
}
