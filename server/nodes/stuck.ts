import { useDatabase } from '../context.ts'

/** Why instances cannot leave a node that is drained, by the id of their service. Each pass over a service finds it again. */
const stuck = new Map<string, string>()

/** Notes why instances of a service cannot leave, or that nothing keeps them. Returns whether that is new. */
export function noteStuck(serviceId: string, reason: string | null): boolean {
  if ((stuck.get(serviceId) ?? null) === reason) return false
  if (reason === null) stuck.delete(serviceId)
  else stuck.set(serviceId, reason)
  return true
}

/** What cannot leave a node, and why. */
export function stuckOn(nodeId: string): string[] {
  if (stuck.size === 0) return []
  return useDatabase()
    .all<{ id: string; name: string }>(
      `SELECT DISTINCT services.id, name FROM services JOIN instances ON service_id = services.id
       WHERE instances.node_id = ? ORDER BY name`,
      nodeId,
    )
    .flatMap(({ id, name }) => (stuck.has(id) ? [`${name}: ${stuck.get(id)}`] : []))
}
