import { setPriority } from 'node:os'

/** On busy processors, a third of the share of a process that serves requests (sched(7)): builds still progress. */
const PRIORITY = 5

/** Lowers a process's priority below those that serve requests; called right after its start, so that children inherit it. */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY)
  } catch {
    // It has ended already.
  }
}
