import type { Command } from '../command.ts'
import { BLUEPRINTS } from './blueprints.ts'
import { CHANGES } from './changes.ts'
import { DATASTORES } from './datastores.ts'
import { DATASTORE_REACH } from './datastore-reach.ts'
import { DEPLOY } from './deploy.ts'
import { DEPLOYS } from './deploys.ts'
import { DISKS } from './disks.ts'
import { DOMAINS } from './domains.ts'
import { ENVIRONMENTS } from './environments.ts'
import { GIT } from './git.ts'
import { NODES } from './nodes.ts'
import { RUNNING } from './running.ts'
import { SERVER } from './server.ts'
import { SERVER_HOST } from './server-host.ts'
import { SERVICES } from './services.ts'
import { THIS_COMPUTER } from './this-computer.ts'
import { VARIABLES } from './variables.ts'

/** All commands, in the order in which the overview lists them. */
export const COMMANDS: readonly Command[] = [
  DEPLOY,
  ...DEPLOYS,
  ...CHANGES,
  ...BLUEPRINTS,
  ...SERVICES,
  ...RUNNING,
  ...DISKS,
  ...ENVIRONMENTS,
  ...VARIABLES,
  ...DATASTORES,
  ...DOMAINS,
  ...DATASTORE_REACH,
  ...SERVER,
  ...NODES,
  ...GIT,
  ...THIS_COMPUTER,
  ...SERVER_HOST,
]
