import type { Tool } from '../tool.ts'
import { BLUEPRINT_READERS, BLUEPRINT_WRITERS } from './blueprints.ts'
import { DATASTORE_READERS, DATASTORE_WRITERS } from './datastores.ts'
import { DEPLOY_READERS, DEPLOY_WRITERS } from './deploys.ts'
import { ENVIRONMENT_READERS } from './environments.ts'
import { FOLDER_WRITERS } from './folders.ts'
import { JOB_READERS, JOB_WRITERS } from './jobs.ts'
import { LOG_READERS } from './logs.ts'
import { METRIC_READERS } from './metrics.ts'
import { SERVER_READERS } from './server.ts'
import { SERVICE_READERS, SERVICE_WRITERS } from './services.ts'
import { VARIABLE_READERS, VARIABLE_WRITERS } from './variables.ts'

/**
 * Every tool there is, in the order in which hosts list them. None deletes anything, restores in place or shows a secret;
 * that is left to people.
 */
export const TOOLS: readonly Tool[] = [
  ...SERVICE_READERS,
  ...DEPLOY_READERS,
  ...LOG_READERS,
  ...JOB_READERS,
  ...VARIABLE_READERS,
  ...DATASTORE_READERS,
  ...ENVIRONMENT_READERS,
  ...METRIC_READERS,
  ...SERVER_READERS,
  ...BLUEPRINT_READERS,
  ...DEPLOY_WRITERS,
  ...FOLDER_WRITERS,
  ...SERVICE_WRITERS,
  ...VARIABLE_WRITERS,
  ...DATASTORE_WRITERS,
  ...BLUEPRINT_WRITERS,
  ...JOB_WRITERS,
]
