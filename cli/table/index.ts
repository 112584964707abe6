import type { Command } from '../command.ts'
import { DATASTORES } from './datastores.ts'
import { DEPLOYS } from './deploys.ts'
import { RUNNING } from './running.ts'
import { SERVER } from './server.ts'
import { SERVER_HOST } from './server-host.ts'
import { SERVICES } from './services.ts'
import { THIS_COMPUTER } from './this-computer.ts'
import { VARIABLES } from './variables.ts'

/** All commands, in the order in which the overview lists them. */
export const COMMANDS: readonly Command[] = [
  ...DEPLOYS,
  ...SERVICES,
  ...RUNNING,
  ...VARIABLES,
  ...DATASTORES,
  ...SERVER,
  ...THIS_COMPUTER,
  ...SERVER_HOST,
]
