import { setTimeout as delay } from 'node:timers/promises'
import { isEngineAway, type Engine } from './engine/index.ts'

/** Between two looks at an engine that does not answer. */
const LOOK_MS = 2_000

/**
 * Whether something failed because the engine is not there: one that is about to end may answer a call with an error of its
 * own before it is gone. A slow one is there.
 */
export async function isOfAbsence(engine: Engine, error: unknown): Promise<boolean> {
  for (let cause = error; cause instanceof Error; cause = cause.cause) if (isEngineAway(cause)) return true
  return await engine.info().then(() => false, isEngineAway)
}

/** Waits until the engine answers, however long that takes. Throws the signal's reason alone. */
export async function untilPresent(engine: Engine, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted()
  while (!(await engine.answers())) await delay(LOOK_MS, undefined, { signal })
}
