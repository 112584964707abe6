import { announceDeploy, announceService } from '../changes.ts'
import { tryMove } from '../state-machine.ts'
import { deployMachine, type DeployStatus } from './states.ts'
import type { DeployRow } from './store.ts'

/** Moves a deploy to its next status and reports the change. Returns false if it was canceled in the meantime. */
export function advance(
  deploy: DeployRow,
  to: DeployStatus,
  columns: Parameters<typeof tryMove>[3] = {},
): boolean {
  if (!tryMove(deployMachine, deploy.id, to, columns)) return false
  announceDeploy(deploy.id, deploy.service_id)
  announceService(deploy.service_id)
  return true
}
