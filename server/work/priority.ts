import { readlinkSync } from 'node:fs'
import { constants, setPriority } from 'node:os'

/** Has the thread that calls it run after everything else that wants the processor. Other threads keep their priority. */
export function lowerThreadPriority(): void {
  // Linux keeps priorities by thread (setpriority(2)); the link is "<process>/task/<thread>" (proc(5)).
  const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1))
  setPriority(thread, constants.priority.PRIORITY_BELOW_NORMAL)
}
