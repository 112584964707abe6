import { defineMachine } from '../state-machine.ts'

export const JOB_STATUSES = ['pending', 'running', 'succeeded', 'failed', 'canceled'] as const
export type JobStatus = (typeof JOB_STATUSES)[number]

/**
 * The transitions of a job. `pending` waits for a slot, or for the run before it. After a restart of the server, a `pending`
 * job stays pending, and a `running` one is picked up in its container, or fails when the container is gone.
 */
export const jobMachine = defineMachine<JobStatus>({
  table: 'jobs',
  moves: {
    pending: ['running', 'failed', 'canceled'],
    running: ['succeeded', 'failed', 'canceled'],
    succeeded: [],
    failed: [],
    canceled: [],
  },
})

/** Statuses in which a job waits or runs. */
export const JOB_IN_PROGRESS: readonly JobStatus[] = ['pending', 'running']

/** The same statuses as a list for SQL. */
export const JOB_IN_PROGRESS_SQL = JOB_IN_PROGRESS.map((status) => `'${status}'`).join(', ')
