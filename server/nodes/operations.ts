import { announceNode, announceService } from '../changes.ts'
import { useDatabase } from '../context.ts'
import { loadEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { allServices, updateService, type ServiceRow } from '../services/store.ts'
import { carriedBy } from './carried.ts'
import { entryColumns } from './entries.ts'
import { closedListener, lackOfPlaces } from './entry-limits.ts'
import { assertNoManager } from './managers.ts'
import { allows, placementOf } from './placement-setting.ts'
import type { NodeInput, NodePatch } from './schema.ts'
import { isEmpty, statusOf, takesNew } from './states.ts'
import {
  deleteNode,
  getNode,
  getNodeByIdOrName,
  hasOtherNodes,
  listNodes,
  ownNodeId,
  updateNode,
  type NodeRow,
} from './store.ts'

/** How many names a refusal has at most. */
const MAX_NAMES = 5

/**
 * Renames a node, gives it labels, drains and activates it, or makes it an entry. Throws `conflict` for a name in use, for a
 * drain after which something would have no place, and for an entry that cannot begin or end.
 */
export function patchNode(node: NodeRow, patch: NodePatch): NodeRow {
  const { name, availability, labels } = patch
  useDatabase().transaction(() => {
    if (name !== undefined) assertNameFree(name, node)
    const drains = availability === 'drain' && node.availability === 'active'
    if (drains) assertDrainable(node)
    const activates = availability === 'active' && node.availability === 'drain'
    const columns = {
      ...(name === undefined ? {} : { name }),
      ...(labels === undefined ? {} : { labels: JSON.stringify(labels) }),
      ...(drains ? { availability, drain_total: carriedBy(node.id).movable } : {}),
      ...(activates ? { availability, drain_total: null } : {}),
      ...entryColumns(node, patch),
    }
    if (Object.keys(columns).length > 0) updateNode(node.id, columns)
  })
  announceNode(node.id)
  return getNode(node.id)!
}

/** Refuses a machine that is to join as a manager, and what would have no place. Throws `conflict`. */
export function assertInvitable({ role, nodes = [] }: NodeInput): void {
  const refuse = (field: string, reason: string) => {
    throw new AppError('conflict', `${field}: ${reason}`)
  }
  if (role === 'manager')
    refuse('role', 'let the machine join as a worker, and have three managers (managers: 3) once it is ready')
  if (nodes.length > 0) refuse('nodes', 'say with managers: 3 that they are to be managers')
  const isEntry = role === 'entry'
  const lack = (isEntry ? closedListener() : null) ?? lackOfPlaces(isEntry ? 2 : 1)
  if (lack !== null) throw new AppError('conflict', isEntry ? `role: ${lack}` : lack)
}

function assertNameFree(name: string, { id }: NodeRow): void {
  const holder = getNodeByIdOrName(name)
  if (holder && holder.id !== id) throw new AppError('conflict', `there is a node ${name} already`)
}

/** Refuses a drain after which something would have no place, and names it. Throws `conflict`. */
function assertDrainable(node: NodeRow): void {
  const others = listNodes().filter((other) => other.id !== node.id && takesNew(other))
  if (others.length === 0)
    throw new AppError(
      'conflict',
      `${node.name} is the last node that is ready and active${withoutPlace(allServices().filter(({ id }) => isOn(node, id)))}: activate another one, or let one join`,
    )
  const homeless = allServices().filter((service) => {
    const placement = placementOf(service)
    return placement !== null && allows(placement, node) && !others.some((other) => allows(placement, other))
  })
  if (homeless.length > 0)
    throw new AppError(
      'conflict',
      `no other node that is ready and active fits a placement${withoutPlace(homeless)}: change it first`,
    )
}

function isOn({ id }: NodeRow, serviceId: string): boolean {
  return (
    useDatabase().get('SELECT 1 FROM instances WHERE node_id = ? AND service_id = ?', id, serviceId) !==
    undefined
  )
}

/** Names what would have no place, to follow why; empty for nothing. */
function withoutPlace(services: readonly ServiceRow[]): string {
  if (services.length === 0) return ''
  const names = services
    .map(({ name, environment_id }) => qualifiedName(name, loadEnvironment(environment_id)))
    .toSorted()
  const named = names.slice(0, MAX_NAMES)
  const more = names.length - named.length
  return `, so ${[...named, ...(more > 0 ? [`${more} more`] : [])].join(', ')} would have no place`
}

/** Refuses to remove a node that carries something, or could; one that still joins does not. Throws `conflict`. */
export function assertRemovable(node: NodeRow, lost: boolean): void {
  const { name, is_own, status } = node
  const refuse = (reason: string) => {
    throw new AppError('conflict', reason)
  }
  if (is_own === 1) refuse(`the server itself runs on ${name}: it cannot be removed`)
  assertNoManager(node)
  if (lost && status === 'down') return
  const carried = carriedBy(node.id)
  if (status === 'joining' && isEmpty(carried)) return
  if (status === 'unreachable')
    refuse(
      `${name} is unreachable: wait until it is back, or run docker swarm leave on it, and remove it with lost=true once it is down`,
    )
  if (lost) refuse(`${name} is ${status}, not down: drain it, and remove it without lost`)
  const now = statusOf(node, carried)
  if (now === 'down')
    refuse(`${name} is down: wait until it is back, or remove it with lost=true if it does not come back`)
  const bound = carried.bound.map((each) => `${each.kind} ${each.name}`)
  const left = bound.length > 0 ? `: move ${bound.slice(0, MAX_NAMES).join(', ')} first` : ''
  if (now !== 'drained')
    refuse(`${name} is ${now}${now === 'ready' ? ': drain it first' : left || ': wait until it is drained'}`)
  const naming = allServices().filter((service) => {
    const nodes = placementOf(service)?.nodes
    return nodes?.length === 1 && nodes[0] === node.id
  })
  if (naming.length > 0) refuse(`a placement names ${name} alone${withoutPlace(naming)}: change it first`)
}

/** Deletes the record of a node that is gone, and takes it out of what names it. */
export function forgetNode(id: string): void {
  deleteNode(id)
  forgetInPlacements(id)
  announceNode(id, 'deleted')
  if (hasOtherNodes()) return
  // Everything is placed on the only node, so that a drain of it could never end.
  updateNode(ownNodeId(), { availability: 'active', drain_total: null })
  announceNode(ownNodeId())
}

/** Takes a node that is gone out of placements that name others too; one that names it alone keeps it, and waits. */
function forgetInPlacements(nodeId: string): void {
  for (const service of allServices()) {
    const placement = placementOf(service)
    const nodes = placement?.nodes?.filter((id) => id !== nodeId)
    if (!placement || !nodes?.length || nodes.length === placement.nodes!.length) continue
    updateService(service.id, { placement: JSON.stringify({ ...placement, nodes }) })
    announceService(service.id)
  }
}
