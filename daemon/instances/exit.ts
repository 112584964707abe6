import { KILLED } from '../engine/index.ts'

/** Describes how a container's program ended. */
export function describeExit(state: { exitCode: number | null; oomKilled: boolean }): string {
  if (state.oomKilled) return 'it ran out of memory (raise memory_limit_mb)'
  if (state.exitCode === KILLED) return `exit code ${KILLED} (it was killed)`
  return `exit code ${state.exitCode ?? 'unknown'}`
}
