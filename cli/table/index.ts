import type { Command } from '../command.ts'
import { SERVER_HOST } from './server-host.ts'
import { THIS_COMPUTER } from './this-computer.ts'

/** All commands, in the order in which the overview lists them. */
export const COMMANDS: readonly Command[] = [...THIS_COMPUTER, ...SERVER_HOST]
