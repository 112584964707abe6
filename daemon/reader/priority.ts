import { setPriority } from 'node:os'

/** Behind whatever serves requests, by two thirds where the processors are busy (sched(7)): builds must go on. */
const PRIORITY = 5

/** Puts a process behind what serves; right after its start, so that its threads and children inherit it. */
export function lowerPriority(pid: number | undefined): void {
  try {
    if (pid !== undefined) setPriority(pid, PRIORITY)
  } catch {
    // It has ended already.
  }
}
