import { sealSnapshot, type DeployRow, type Snapshot } from '#server/deploys/store.ts'

/** What a deploy goes live with: containers of a snapshot, or its published folder. */
export type Deployable = Snapshot | 'site'

/** Returns the columns for a snapshot: the sealed snapshot, and the values of it that are stored in plain text. */
export function columnsOf(snapshot: Snapshot): Pick<DeployRow, 'snapshot' | 'port' | 'health_check_path'> {
  return {
    snapshot: sealSnapshot(snapshot),
    port: snapshot.port,
    health_check_path: snapshot.health_check_path,
  }
}
