import { defineMachine } from '../state-machine.ts'

export const DEPLOY_STATUSES = [
  'queued',
  'building',
  'deploying',
  'live',
  'build_failed',
  'deploy_failed',
  'canceled',
  'deactivated',
] as const
export type DeployStatus = (typeof DEPLOY_STATUSES)[number]

/**
 * The status changes of a deploy. After a restart of the server, `queued` stays, `building` goes back to `queued` and starts
 * over, and `deploying` continues from its recorded image and snapshot. A deploy that was in progress at two crashes in a
 * row has failed.
 */
export const deployMachine = defineMachine<DeployStatus>({
  table: 'deploys',
  moves: {
    queued: ['building', 'deploying', 'deploy_failed', 'canceled'],
    building: ['queued', 'deploying', 'build_failed', 'canceled'],
    deploying: ['live', 'deploy_failed', 'canceled'],
    live: ['deactivated'],
    build_failed: [],
    deploy_failed: [],
    canceled: [],
    deactivated: [],
  },
})

/** Statuses of a deploy that is running or queued. */
export const IN_PROGRESS: readonly DeployStatus[] = ['queued', 'building', 'deploying']

/** The same as a list for SQL. */
export const IN_PROGRESS_SQL = IN_PROGRESS.map((status) => `'${status}'`).join(', ')
