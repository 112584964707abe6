import { servicesServedAsSites } from '#server/deploys/store.ts'
import { allInstances, type InstanceRow } from '#server/instances/store.ts'
import { allServices, type ServiceRow } from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import type { ContainerState } from '../engine/index.ts'

/** All containers of instances by name. */
export type Containers = Map<string, ContainerState>

/** Returns the services that are not in their desired state, by a list of all containers. */
export function servicesToReconcile(containers: Containers, isPaused: (id: string) => boolean): string[] {
  const instances = Map.groupBy(allInstances(), ({ service_id }) => service_id)
  const sites = servicesServedAsSites()
  return allServices()
    .filter((service) => {
      const runs = service.live_deploy_id !== null && !sites.has(service.id)
      const wanted = runs ? wantedInstances(service) : 0
      return !isInDesiredState(service, wanted, instances.get(service.id) ?? [], containers, isPaused)
    })
    .map(({ id }) => id)
}

function isInDesiredState(
  service: ServiceRow,
  wanted: number,
  instances: InstanceRow[],
  containers: Containers,
  isPaused: (id: string) => boolean,
): boolean {
  const isSettled = service.observed_generation === service.generation && service.apply_error === null
  return (
    isSettled &&
    !service.deleting &&
    instances.length === wanted &&
    instances.every(
      ({ id, deploy_id, status, address }) =>
        deploy_id === service.live_deploy_id &&
        (status === 'ready' || status === 'failing') &&
        isWhole(containers.get(id), address, isPaused(id)),
    )
  )
}

/** Whether a listed container runs at its address, and is paused or not as already known. */
function isWhole(container: ContainerState | undefined, address: string, isKnownPaused: boolean): boolean {
  if (!container?.running || container.paused !== isKnownPaused) return false
  return container.networks.some((network) => network.address === address)
}
