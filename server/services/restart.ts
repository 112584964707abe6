import { queueRestart } from '../deploys/operations.ts'
import { sha256 } from '../secrets.ts'
import { Reading } from '../variables/environment.ts'
import { ReferenceFault } from '../variables/references.ts'
import { listServices, type ServiceRow } from './store.ts'

/**
 * Runs a change of variables and, when asked to, queues a restart of each live service of these environments whose
 * whole environment it changed, those included that refer to a changed variable. The change stays when a restart
 * cannot be queued; the first such error is thrown once the others are.
 */
export function restartChanged<T>(restart: boolean, environmentIds: readonly string[], change: () => T): T {
  if (!restart) return change()
  const changed = watchEnvironments(environmentIds)
  const result = change()
  restartAll(changed())
  return result
}

/**
 * Looks at the whole environment of each live service of these environments; the function that it answers looks again
 * and names those that have another one now.
 */
export function watchEnvironments(environmentIds: readonly string[]): () => ServiceRow[] {
  const before = digests(runningIn(environmentIds))
  return () => {
    const services = runningIn(environmentIds)
    const after = digests(services)
    return services.filter(({ id }) => before.get(id) !== after.get(id))
  }
}

/** The services whose containers have variables to renew. */
function runningIn(environmentIds: readonly string[]): ServiceRow[] {
  return environmentIds
    .flatMap((id) => listServices(id))
    .filter(({ live_deploy_id, suspended, deleting }) => live_deploy_id !== null && !suspended && !deleting)
}

/** What stands for the whole environment of each service; of one that cannot be resolved, what is wrong with it. */
function digests(services: readonly ServiceRow[]): Map<string, string> {
  const reading = new Reading()
  return new Map(services.map((service) => [service.id, digest(reading, service)]))
}

function digest(reading: Reading, service: ServiceRow): string {
  try {
    const values = [...reading.resolve(service)]
    return sha256(JSON.stringify(values.sort(([left], [right]) => (left < right ? -1 : 1))))
  } catch (error) {
    if (!(error instanceof ReferenceFault)) throw error
    return error.message
  }
}

function restartAll(services: readonly ServiceRow[]): void {
  const faults: unknown[] = []
  for (const service of services) {
    try {
      queueRestart(service)
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length > 0) throw faults[0]
}
