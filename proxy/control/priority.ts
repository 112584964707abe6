import { constants, getPriority, setPriority } from 'node:os'

const NORMAL = constants.priority.PRIORITY_NORMAL
/** Three times the share of who has the normal one, of a core that both want (sched(7)). */
export const PRIORITY_OF_REQUESTS = -5

/**
 * Has this thread, which answers requests, come before what its supervisor and V8's compilers do on its core: node's other
 * threads keep what they were started with. Whoever started the server with another priority wants that; and without the
 * right to it (RLIMIT_NICE, setpriority(2)) all are equal.
 */
export function putRequestsFirst(): void {
  change(NORMAL, PRIORITY_OF_REQUESTS)
}

/** Gives back what a worker has left to what it starts; that starts with the normal priority, all its threads. */
export function comeAfterRequests(): void {
  change(PRIORITY_OF_REQUESTS, NORMAL)
}

function change(from: number, to: number): void {
  try {
    if (getPriority() === from) setPriority(to)
  } catch {
    // It stays as it is.
  }
}
