import { useContext } from '#server/context.ts'
import { BuildFailure } from '#plans/index.ts'

/**
 * Runs `work` within `--build-timeout`, with a signal that includes the timeout. Throws a BuildFailure that begins with
 * `doing` when the time is up, the reason of the caller's signal, or what `work` throws.
 */
export async function withinBuildTimeout<T>(
  doing: string,
  signal: AbortSignal,
  work: (limited: AbortSignal) => Promise<T>,
  advice = 'make it smaller',
): Promise<T> {
  const { buildTimeoutMs } = useContext().options
  const timeout = AbortSignal.timeout(buildTimeoutMs)
  try {
    return await work(AbortSignal.any([signal, timeout]))
  } catch (error) {
    signal.throwIfAborted()
    if (!timeout.aborted) throw error
    throw new BuildFailure(
      `${doing} took longer than ${buildTimeoutMs / 60_000} minutes: ${advice}, or raise --build-timeout`,
    )
  }
}
