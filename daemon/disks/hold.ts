import { setTimeout as delay } from 'node:timers/promises'
import { announceService } from '#server/changes.ts'
import { releaseDisk, tryHoldDisk } from '#server/disks/holds.ts'
import { nodeOfDisks } from '#server/disks/volume.ts'
import { AppError } from '#server/errors.ts'
import { instancesOf } from '#server/instances/store.ts'
import { getService } from '#server/services/store.ts'
import { isLost, nameOfNode } from '../nodes/presence.ts'

/** How often it is checked whether the last instance has stopped. */
const PERIOD_MS = 100

/**
 * Runs `work` while no program of a service runs: the instance keeper stops every instance, as when the service is
 * suspended, and starts it again afterwards. First lets a deploy that has stopped the old instance finish. What runs on
 * `givenUp`, a node whose disks are not used any more, is not waited for; on any other node that does not answer it may still
 * write. Throws what `work` throws, `runtime_error` when the node of the disks is lost, or the signal's reason.
 */
export async function whileStopped(
  serviceId: string,
  signal: AbortSignal,
  work: () => Promise<void>,
  givenUp?: string,
): Promise<void> {
  while (!tryHoldDisk(serviceId)) await delay(PERIOD_MS, undefined, { signal })
  try {
    announceService(serviceId)
    while (instancesOf(serviceId).some(({ node_id }) => node_id !== givenUp && !isLost(node_id)))
      await delay(PERIOD_MS, undefined, { signal })
    signal.throwIfAborted()
    const nodeId = nodeOfDisks(getService(serviceId)!)
    // A lost node's instances are forgotten, but may run on.
    if (nodeId !== givenUp && isLost(nodeId))
      throw new AppError('runtime_error', `the node ${nameOfNode(nodeId)} is lost`)
    await work()
  } finally {
    releaseDisk(serviceId)
    announceService(serviceId)
  }
}
