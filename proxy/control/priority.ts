import { constants, getPriority, setPriority } from 'node:os'

const NORMAL = constants.priority.PRIORITY_NORMAL
/** Three times the CPU share of a process with normal priority when both want the same core (sched(7)). */
export const PRIORITY_OF_REQUESTS = -5

/**
 * Gives this thread, which answers requests, priority over its supervisor and V8's compilers on the same core; node's other
 * threads keep theirs. A server that was started with another priority keeps it, since somebody chose it. Without the right
 * to raise it (RLIMIT_NICE, setpriority(2)), all stay equal.
 */
export function putRequestsFirst(): void {
  change(NORMAL, PRIORITY_OF_REQUESTS)
}

/** Undoes `putRequestsFirst` in a process that a worker started, so that what it starts has the normal priority again. */
export function comeAfterRequests(): void {
  change(PRIORITY_OF_REQUESTS, NORMAL)
}

function change(from: number, to: number): void {
  try {
    if (getPriority() === from) setPriority(to)
  } catch {
    // The priority stays as it is.
  }
}
