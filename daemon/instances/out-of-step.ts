import { servicesServedAsSites } from '#server/deploys/store.ts'
import { overlayAddress } from '#server/environments/overlay.ts'
import { listEnvironments, type Environment } from '#server/environments/store.ts'
import { allInstances, type InstanceRow } from '#server/instances/store.ts'
import { listNodes, type NodeRow } from '#server/nodes/store.ts'
import { allServices, type ServiceRow } from '#server/services/store.ts'
import { wantedInstances } from '#server/services/types.ts'
import type { ContainerState } from '../engine/index.ts'
import { isLostNode } from '../nodes/presence.ts'
import { hasDisks } from './bound.ts'

/** All containers of instances by name. */
export type Containers = Map<string, ContainerState>

/** What instances are compared with. */
interface Found {
  containers: Containers
  /** The nodes whose containers were listed: what is on another one is unknown. */
  listed: ReadonlySet<string>
  nodes: ReadonlyMap<string, NodeRow>
  environments: ReadonlyMap<string, Environment>
  isPaused: (id: string) => boolean
}

/** Returns the services that are not in their desired state, by a list of all containers on the nodes that answered. */
export function servicesToReconcile(
  containers: Containers,
  listed: ReadonlySet<string>,
  isPaused: (id: string) => boolean,
): string[] {
  const instances = Map.groupBy(allInstances(), ({ service_id }) => service_id)
  const sites = servicesServedAsSites()
  const nodes = new Map(listNodes().map((node) => [node.id, node]))
  const environments = new Map(listEnvironments().map((environment) => [environment.id, environment]))
  const found = { containers, listed, nodes, environments, isPaused }
  return allServices()
    .filter((service) => {
      const runs = service.live_deploy_id !== null && !sites.has(service.id)
      const wanted = runs ? wantedInstances(service) : 0
      return !isInDesiredState(service, wanted, instances.get(service.id) ?? [], found)
    })
    .map(({ id }) => id)
}

function isInDesiredState(
  service: ServiceRow,
  wanted: number,
  instances: InstanceRow[],
  found: Found,
): boolean {
  const isSettled = service.observed_generation === service.generation && service.apply_error === null
  return (
    isSettled &&
    !service.deleting &&
    instances.length === wanted &&
    instances.every(
      (instance) =>
        instance.deploy_id === service.live_deploy_id &&
        (instance.status === 'ready' || instance.status === 'failing') &&
        mayStay(instance, found.nodes.get(instance.node_id)) &&
        isWhole(service, instance, found),
    )
  )
}

/** Whether an instance may stay on a node: not on one that is lost, and only with a disk on one that is drained. */
function mayStay({ deploy_id }: InstanceRow, node: NodeRow | undefined): boolean {
  if (!node || isLostNode(node)) return false
  return node.availability === 'active' || hasDisks(deploy_id)
}

/** Whether a listed container runs at its address, and is paused or not as already known. */
function isWhole(
  { environment_id }: ServiceRow,
  { id, node_id, address }: InstanceRow,
  { containers, listed, nodes, environments, isPaused }: Found,
): boolean {
  if (!listed.has(node_id)) return true
  const container = containers.get(id)
  if (!container?.running || container.paused !== isPaused(id)) return false
  const isOwn = nodes.get(node_id)?.is_own === 1
  const environment = environments.get(environment_id)!
  // It has no network there, and is made again.
  if (!isOwn && environment.overlay_subnet === null) return false
  const expected = isOwn ? address : overlayAddress(environment, address)
  return container.networks.some((network) => network.address === expected)
}
