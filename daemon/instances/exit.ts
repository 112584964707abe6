import { KILLED } from '../engine/index.ts'

/** How a container ended that is not there any more. */
export const REMOVED = 'its container was removed externally'

/** Describes how a container's program ended. */
export function describeExit(state: { exitCode: number | null; oomKilled: boolean }): string {
  if (state.oomKilled) return 'it ran out of memory (raise memory_limit_mb)'
  if (state.exitCode === KILLED) return `exit code ${KILLED} (it was killed)`
  return `exit code ${state.exitCode ?? 'unknown'}`
}
