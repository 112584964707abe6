import { queueSourceDeploy } from '../deploys/operations.ts'
import { AppError } from '../errors.ts'
import { AT_ONCE } from '../services/store.ts'
import type { Project } from './project.ts'
import type { BlueprintAction } from './schema.ts'
import type { Work } from './work.ts'

/**
 * Queues the deploys that follow from an apply: of the services that it created or whose containers need the change, and of
 * live ones whose variables changed otherwise. Returns the ids, and notes on services that accept no deploys now.
 */
export function queueDeploys(
  { services }: Project,
  work: Work,
  actions: readonly BlueprintAction[],
): { deploys: string[]; notes: string[] } {
  const ofServices = actions.filter(({ resource }) => resource === 'service')
  const changed = services
    .filter((_, index) => needsDeploy(ofServices[index]!))
    .map((wanted) => work.serviceOf(wanted))
  const held = new Set(services.filter(({ deploys }) => !deploys).map((wanted) => work.serviceOf(wanted).id))
  const all = new Map([...changed, ...work.renewed()].map((service) => [service.id, service]))
  const deploys: string[] = []
  const notes: string[] = []
  for (const service of all.values()) {
    if (held.has(service.id)) continue
    try {
      deploys.push(queueSourceDeploy(service, 'blueprint').id)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      notes.push(`service ${service.name} is not deployed: ${error.message}`)
    }
  }
  return { deploys, notes }
}

/** Whether something changed that takes effect only with a deploy. */
function needsDeploy({ action, changes }: BlueprintAction): boolean {
  if (action === 'create') return true
  return changes.some((change) => !AT_ONCE.has(change.slice(0, change.search(/[:.]/))))
}
