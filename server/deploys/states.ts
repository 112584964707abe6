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
 * The moves of a deploy. After a restart of the server: `queued` stays, `building` goes back to `queued` and starts
 * over, `deploying` is taken up again from its recorded image and snapshot; what was under way at two crashes in a row
 * has failed.
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

/** Statuses in which work on a deploy is under way or waits. */
export const IN_PROGRESS: readonly DeployStatus[] = ['queued', 'building', 'deploying']

/** As a list for SQL. */
export const IN_PROGRESS_SQL = IN_PROGRESS.map((status) => `'${status}'`).join(', ')
