import { queueRestart } from '../deploys/operations.ts'
import { sha256 } from '../secrets.ts'
import { Reading } from '../variables/environment.ts'
import { ReferenceFault } from '../variables/references.ts'
import { listServices, type ServiceRow } from './store.ts'

/**
 * Runs a change of variables and, if asked to, queues a restart of each live service in these environments whose resolved
 * variables changed, including those that refer to a changed variable. The change stays even when a restart cannot be
 * queued; the first such error is thrown after the other restarts are queued.
 */
export function restartChanged<T>(restart: boolean, environmentIds: readonly string[], change: () => T): T {
  if (!restart) return change()
  const changed = watchEnvironments(environmentIds)
  const result = change()
  restartAll(changed())
  return result
}

/**
 * Reads the resolved variables of each live service in these environments. The returned function reads them again and
 * returns the services whose variables have changed.
 */
export function watchEnvironments(environmentIds: readonly string[]): () => ServiceRow[] {
  const before = digests(runningIn(environmentIds))
  return () => {
    const services = runningIn(environmentIds)
    const after = digests(services)
    return services.filter(({ id }) => before.get(id) !== after.get(id))
  }
}

/** The services with containers that would get new variables. */
function runningIn(environmentIds: readonly string[]): ServiceRow[] {
  return environmentIds
    .flatMap((id) => listServices(id))
    .filter(({ live_deploy_id, suspended, deleting }) => live_deploy_id !== null && !suspended && !deleting)
}

/** A digest of each service's resolved variables; the fault when they cannot be resolved. */
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
