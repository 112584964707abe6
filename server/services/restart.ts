import { queueRestart } from '../deploys/operations.ts'
import type { Variable } from '../variables/rules.ts'
import { getService, readVariables, type ServiceRow } from './store.ts'

/**
 * Runs a change of a service's variables and, when asked to and something changed, queues a restart of a live service.
 * The variables stay saved when the restart cannot be queued; its error is the answer.
 */
export function restartIfChanged(
  service: ServiceRow,
  restart: boolean,
  change: () => Variable[],
): Variable[] {
  const before = readVariables(service.id)
  const after = change()
  const changed = JSON.stringify(before) !== JSON.stringify(after)
  if (restart && changed && service.live_deploy_id !== null) queueRestart(getService(service.id)!)
  return after
}
