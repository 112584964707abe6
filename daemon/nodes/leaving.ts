import { setTimeout as delay } from 'node:timers/promises'
import { forgetSpareVolume, spareVolumesOn } from '#server/backups/spare-volumes.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { NodeRow } from '#server/nodes/store.ts'
import type { Engine } from '../engine/index.ts'
import type { Swarm } from '../engine/swarm.ts'

/** A manager notices a node that leaves at once, and one that dies after 15 s. */
const GONE_WITHIN_MS = 25_000
const PERIOD_MS = 200

/** Makes a node's engine leave the swarm, and waits until it has. Throws `runtime_error`. */
export async function leaveSwarm(engine: Engine, manager: Swarm, { name, swarm_id }: NodeRow): Promise<void> {
  let fault = ''
  for (const began = performance.now(); performance.now() - began < GONE_WITHIN_MS; await delay(PERIOD_MS)) {
    try {
      return await engine.swarm.leave()
    } catch (error) {
      fault = messageOf(error)
    }
    // The agent that carries the answer ends with it, so this may be how it succeeds.
    const member = (await manager.nodes()).find(({ id }) => id === swarm_id)
    if (member?.state !== 'ready') return
  }
  throw new AppError(
    'runtime_error',
    `the engine of ${name} does not leave (${fault}): run docker swarm leave there, and remove it with lost=true once it is down`,
  )
}

/** Removes replaced data that a node still keeps: nothing could go back to it once the node is gone. Throws `runtime_error`. */
export async function removeSpareVolumes(
  nodeId: string,
  { volumes }: Pick<Engine, 'volumes'>,
): Promise<void> {
  for (const { volume } of spareVolumesOn(nodeId)) {
    await volumes.remove(volume)
    forgetSpareVolume(volume)
  }
}
