import { updateInstance, type InstanceRow } from '#server/instances/store.ts'
import { recordServiceEvent } from '#server/service-events/store.ts'
import { NotReady } from './readiness.ts'

/** This many ends of one instance fail a rollout. */
const MAX_ENDS = 3

/** Counts how often the program or container of each new instance of a rollout has ended. */
export class Ends {
  readonly #counts = new Map<string, number>()

  /** Counts an end of an instance before it is restarted. Throws NotReady if there are too many. */
  count(id: string, how: string): void {
    const count = (this.#counts.get(id) ?? 0) + 1
    this.#counts.set(id, count)
    if (count >= MAX_ENDS) throw new NotReady(how.replace(/^[^:]+/, (what) => `${what} ${MAX_ENDS} times`))
  }
}

/** Records how an instance ended while it was starting. */
export function recordEnd(instance: InstanceRow, exitCode: number | null, how: string): void {
  updateInstance(instance.id, endColumns(instance, exitCode, how))
}

/** The columns to record for the end of an instance's program. */
export function endColumns({ restarts }: InstanceRow, exitCode: number | null, reason: string) {
  return { exit_code: exitCode, restarts: restarts + 1, reason }
}

/** Tells the timeline of its service that an instance of the live version has ended. */
export function recordCrash(
  { id, service_id, deploy_id }: InstanceRow,
  exitCode: number | null,
  reason: string,
): void {
  recordServiceEvent(service_id, 'service.crashed', {
    deployId: deploy_id,
    instance: id,
    details: { reason, ...(exitCode === null ? {} : { exit_code: exitCode }) },
  })
}
