import type { Flag } from '../command.ts'

/** The flags of commands that move something to another node. */
export const MOVE_FLAGS: readonly Flag[] = [
  { name: 'from-backup', summary: 'restore its newest backup there, since its node is lost' },
  { name: 'cancel', summary: 'end the move that is running' },
  { name: 'detach', summary: 'do not wait for the end' },
]
