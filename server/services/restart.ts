import { queueRestart } from '../deploys/operations.ts'
import { fileStates } from '../secret-files/effective.ts'
import { sha256 } from '../secrets.ts'
import { Reading } from '../variables/environment.ts'
import { ReferenceFault } from '../variables/references.ts'
import { listServices, type ServiceRow } from './store.ts'

/**
 * Runs a change of variables or secret files and, if asked to, queues a restart of each live service in these environments
 * whose resolved variables or files changed, including those that refer to a changed variable. The change stays even when a
 * restart cannot be queued; the first such error is thrown after the other restarts are queued.
 */
export function restartChanged<T>(restart: boolean, environmentIds: readonly string[], change: () => T): T {
  if (!restart) return change()
  const changed = watchEnvironments(environmentIds)
  const result = change()
  restartAll(changed())
  return result
}

/**
 * Reads the resolved variables and the secret files of each live service in these environments. The returned function reads
 * them again and returns the services for which they have changed.
 */
export function watchEnvironments(environmentIds: readonly string[]): () => ServiceRow[] {
  const before = digests(runningIn(environmentIds))
  return () => {
    const services = runningIn(environmentIds)
    const after = digests(services)
    return services.filter(({ id }) => before.get(id) !== after.get(id))
  }
}

/** The services with containers that would get new variables and files. */
function runningIn(environmentIds: readonly string[]): ServiceRow[] {
  return environmentIds
    .flatMap((id) => listServices(id))
    .filter(({ live_deploy_id, suspended, deleting }) => live_deploy_id !== null && !suspended && !deleting)
}

/** A digest of what each service's containers get. */
function digests(services: readonly ServiceRow[]): Map<string, string> {
  const reading = new Reading()
  const states = services.map((service): [string, string] => [
    service.id,
    sha256(JSON.stringify([variablesIn(reading, service), fileStates(service.id).toSorted()])),
  ])
  return new Map(states)
}

/** The resolved variables of a service; the fault when they cannot be resolved. */
function variablesIn(reading: Reading, service: ServiceRow): unknown {
  try {
    return [...reading.resolve(service)].toSorted(([left], [right]) => (left < right ? -1 : 1))
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
