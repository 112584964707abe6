import { getDeploy, openSnapshot } from '#server/deploys/store.ts'
import { AppError } from '#server/errors.ts'
import { instancesOf } from '#server/instances/store.ts'
import type { LogWriter } from '#server/logs/files.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { isKnownWithin } from '../engine-absence.ts'
import { forgetInstance } from '../instances/containers.ts'
import { answers, nameOfNode } from '../nodes/presence.ts'
import type { World } from '../world.ts'
import { nodeOfPreDeploy } from './pre-deploy.ts'

/**
 * Waits for other nodes on which an earlier try of a deploy has started something. One that neither answers nor is lost for
 * longer than `limitMs` is given up, and others are started elsewhere, unless they have a disk there. Throws `runtime_error`
 * for that, or the signal's reason.
 */
export async function untilNodesAreKnown(
  world: World,
  id: string,
  limitMs: number,
  log: LogWriter,
  signal: AbortSignal,
): Promise<void> {
  const deploy = getDeploy(id)!
  const instances = instancesOf(deploy.service_id).filter(({ deploy_id }) => deploy_id === id)
  const byNode = Map.groupBy(instances, ({ node_id }) => node_id)
  const ofPreDeploy = nodeOfPreDeploy(deploy)
  if (ofPreDeploy !== undefined && !byNode.has(ofPreDeploy)) byNode.set(ofPreDeploy, [])
  byNode.delete(ownNodeId())
  for (const [nodeId, there] of byNode) {
    if (!answers(world, nodeId)) log.system(`waiting for the node ${nameOfNode(nodeId)}`)
    if (await isKnownWithin(world, nodeId, limitMs, signal)) continue
    const fault = `the node ${nameOfNode(nodeId)} could not be reached for ${limitMs / 60_000} minutes`
    if ((openSnapshot(deploy)?.disks ?? []).length > 0)
      throw new AppError('runtime_error', `${fault}, and the disk is there: deploy again once it is back`)
    log.system(`${fault}; starting elsewhere what was there`)
    for (const each of there) forgetInstance(each.id)
  }
}
