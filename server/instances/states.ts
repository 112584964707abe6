import { defineMachine } from '../state-machine.ts'

const INSTANCE_STATUSES = ['starting', 'ready', 'failing', 'down', 'draining'] as const
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number]

/**
 * The transitions of an instance. `starting` is not in rotation yet, or is being started again after the engine stopped it;
 * `ready` takes requests; `failing` runs, but its probe fails; `down` has no running program and waits to be started again;
 * `draining` has left rotation and is being stopped. After a restart of the server, the instance keeper compares them with
 * the engine's containers, and the `starting` ones of a deploy that is still `deploying` are probed again.
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

/** Whether a service that should run serves nothing yet only because all its instances are still starting. */
export function isComingUp(statuses: readonly InstanceStatus[]): boolean {
  return statuses.every((status) => status === 'starting')
}
