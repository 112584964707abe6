import { setTimeout as delay } from 'node:timers/promises'
import { schedule } from '#server/options/schedule.ts'
import { ownNodeId } from '#server/nodes/store.ts'
import { isEngineAway, type Engine } from './engine/index.ts'
import { answers, isLost } from './nodes/presence.ts'
import type { World } from './world.ts'

/** How long to wait for the next engine: one that shuts down first gives its containers some seconds to stop. */
const RETURN_WITHIN_MS = 60_000
/** Once the next engine answers, the time until the end of the former one's event stream is noticed here. */
const NOTICE_MS = 500

/**
 * Whether something failed because the engine is gone. An engine that is about to stop may still answer a call with an error
 * of its own, so the engine is asked too. A slow engine does not count as gone.
 */
export async function isOfAbsence(engine: Engine, error: unknown): Promise<boolean> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isEngineAway(cause)) return true
  return await engine.info().then(() => false, isEngineAway)
}

/** How often the engine of a node has gone away since the server started. */
export function departuresOf(world: World, nodeId: string): number {
  return nodeId === ownNodeId() ? world.engineDepartures : (world.departuresOfOthers.get(nodeId) ?? 0)
}

/**
 * Whether the engine of a node, the own one if none is named, went away after this count of departures was read, asked when
 * something failed in the meantime. Where another program holds the engine's socket, such as systemd's `docker.socket`,
 * nothing else shows it: calls wait for the next engine, and the programs in the containers just end. Throws only the signal's
 * reason.
 */
export async function hasLeftSince(
  world: World,
  departures: number,
  signal: AbortSignal,
  nodeId = ownNodeId(),
): Promise<boolean> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(RETURN_WITHIN_MS)])
  await untilKnown(world, nodeId, either).catch(() => signal.throwIfAborted())
  await delay(NOTICE_MS, undefined, { signal })
  return departuresOf(world, nodeId) !== departures
}

/** Waits until the engine of a node answers, or the node is lost. Throws only the signal's reason. */
export async function untilKnown(world: World, nodeId: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while (!isLost(nodeId) && !(answers(world, nodeId) && (await world.engineOf(nodeId).answers())))
    await delay(schedule.engineRetryMs, undefined, { signal })
}

/** Whether the engine of a node answers, or the node is lost, within this time. Throws only the signal's reason. */
export async function isKnownWithin(
  world: World,
  nodeId: string,
  limitMs: number,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await untilKnown(world, nodeId, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))
    return true
  } catch {
    signal.throwIfAborted()
    return false
  }
}

/** Waits until the engine answers, however long that takes. Throws only the signal's reason. */
export async function untilPresent(engine: Engine, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while (!(await engine.answers())) await delay(schedule.engineRetryMs, undefined, { signal })
}
