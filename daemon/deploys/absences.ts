import { AppError } from '#server/errors.ts'
import type { LogWriter } from '#server/logs/files.ts'
import type { Engine } from '../engine/index.ts'
import { isOfAbsence, untilPresent } from '../engine-absence.ts'
import { isOwnFailure } from './failure.ts'

/** An engine that goes away this often probably does so because of the deploy. */
const MAX_ABSENCES = 5

/**
 * Runs `work`, which can be started again at any time and finds what it did before, and runs it again if the engine went
 * away meanwhile and came back. Throws what `work` throws for another reason, and `runtime_error` if the engine stays away
 * for longer than `limitMs`.
 */
export async function outlastAbsences(
  engine: Engine,
  limitMs: number,
  log: LogWriter,
  signal: AbortSignal,
  work: () => Promise<void>,
): Promise<void> {
  for (let absences = 1; ; absences++) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (absences > MAX_ABSENCES || isOwnFailure(error)) throw error
      if (!(await isOfAbsence(engine, error))) throw error
      log.system('the container engine stopped answering; waiting until it is back')
      await untilBack(engine, limitMs, signal)
      log.system('the container engine is back; continuing')
    }
  }
}

async function untilBack(engine: Engine, limitMs: number, signal: AbortSignal): Promise<void> {
  try {
    await untilPresent(engine, AbortSignal.any([signal, AbortSignal.timeout(limitMs)]))
  } catch (cause) {
    signal.throwIfAborted()
    throw new AppError(
      'runtime_error',
      `the container engine stopped and did not come back within ${limitMs / 60_000} minutes: start it, then deploy again`,
      { cause },
    )
  }
}
