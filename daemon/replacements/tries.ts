import { AppError } from '#server/errors.ts'
import { departuresOf, hasLeftSince, isOfAbsence, untilKnown } from '../engine-absence.ts'
import { answers, isLost, nameOfNode } from '../nodes/presence.ts'
import type { World } from '../world.ts'

/** A restore that takes longer is assumed to hang. */
const LONGEST_MS = 12 * 3_600_000
/** A restore during which the server or the engine ended this often may be the cause. */
const MAX_TRIES = 3

/**
 * Runs `attempt`, and again from its beginning when the engine of one of these nodes went away in between, once it is back.
 * `onDeparture` hears of each. Throws what an attempt throws for another reason, `runtime_error` when one of the nodes is lost,
 * or the signal's reason.
 */
export async function acrossDepartures(
  world: World,
  nodeIds: readonly string[],
  stop: AbortSignal,
  attempt: () => Promise<void>,
  onDeparture: (error: unknown) => void,
): Promise<void> {
  for (;;) {
    for (const nodeId of nodeIds) {
      await untilKnown(world, nodeId, stop)
      if (isLost(nodeId)) throw new AppError('runtime_error', `the node ${nameOfNode(nodeId)} is lost`)
    }
    const departures = nodeIds.map((nodeId) => departuresOf(world, nodeId))
    try {
      return await attempt()
    } catch (error) {
      stop.throwIfAborted()
      const wereAway = await Promise.all(
        nodeIds.map(async (nodeId, at) => {
          if (!answers(world, nodeId) || (await isOfAbsence(world.engineOf(nodeId), error))) return true
          return hasLeftSince(world, departures[at]!, stop, nodeId)
        }),
      )
      if (!wereAway.includes(true)) throw error
      onDeparture(error)
    }
  }
}

/** Runs one of the few tries that a restore has, each for a limited time. */
export async function limitedTry(
  tries: number,
  stop: AbortSignal,
  work: (signal: AbortSignal) => Promise<void>,
): Promise<void> {
  if (tries > MAX_TRIES)
    throw new Error(
      `gave up after ${MAX_TRIES} tries: each time, the server or the container engine stopped before it was done`,
    )
  const late = AbortSignal.timeout(LONGEST_MS)
  try {
    await work(AbortSignal.any([stop, late]))
  } catch (error) {
    throw late.aborted ? new Error(`it did not finish within ${LONGEST_MS / 3_600_000} hours`) : error
  }
}
