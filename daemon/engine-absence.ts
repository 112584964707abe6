import { setTimeout as delay } from 'node:timers/promises'
import { schedule } from '#server/options/schedule.ts'
import { isEngineAway, type Engine } from './engine/index.ts'
import type { World } from './world.ts'

/** An engine that ends gives its containers some seconds to end before it. */
const RETURN_WITHIN_MS = 60_000
/** Until what an engine sent has ended here too, once the next one answers. */
const NOTICE_MS = 500

/**
 * Whether something failed because the engine is not there: one that is about to end may answer a call with an error of its
 * own before it is gone. A slow one is there.
 */
export async function isOfAbsence(engine: Engine, error: unknown): Promise<boolean> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isEngineAway(cause)) return true
  return await engine.info().then(() => false, isEngineAway)
}

/**
 * Whether the engine has gone away since it had so often, for something that failed meanwhile. Nothing else tells where
 * another program holds its socket, as systemd's `docker.socket` does: calls wait for the next engine, and the programs in its
 * containers just end. Throws the signal's reason alone.
 */
export async function hasLeftSince(world: World, departures: number, signal: AbortSignal): Promise<boolean> {
  const either = AbortSignal.any([signal, AbortSignal.timeout(RETURN_WITHIN_MS)])
  await untilPresent(world.engine, either).catch(() => signal.throwIfAborted())
  await delay(NOTICE_MS, undefined, { signal })
  return world.engineDepartures !== departures
}

/** Waits until the engine answers, however long that takes. Throws the signal's reason alone. */
export async function untilPresent(engine: Engine, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while (!(await engine.answers())) await delay(schedule.engineRetryMs, undefined, { signal })
}
