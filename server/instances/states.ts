import { defineMachine } from '../state-machine.ts'

const INSTANCE_STATUSES = ['starting', 'ready', 'failing', 'down', 'draining'] as const
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number]

/**
 * The moves of an instance. `starting` is not yet in rotation, or starts again because the engine ended it; `ready` takes
 * requests; `failing` runs but its probe fails; `down` has no running program and waits to be started again; `draining`
 * has left rotation and ends.
 * After a restart of the server: compared with the engine's containers by the instance keeper; `starting` ones of a deploy
 * that is still `deploying` are probed again.
 */
export const instanceMachine = defineMachine<InstanceStatus>({
  table: 'instances',
  moves: {
    starting: ['ready', 'failing', 'down', 'draining'],
    ready: ['starting', 'failing', 'down', 'draining'],
    failing: ['starting', 'ready', 'down', 'draining'],
    down: ['starting', 'ready', 'failing', 'draining'],
    draining: [],
  },
})

/** Whether a service that should run has nothing that serves because all of it, by these statuses, is still on its way up. */
export function isComingUp(statuses: readonly InstanceStatus[]): boolean {
  return statuses.every((status) => status === 'starting')
}
