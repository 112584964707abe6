import { sealSnapshot, type DeployRow, type Snapshot } from '#server/deploys/store.ts'

/** What a deploy is to go live with: containers of a snapshot, or its published folder. */
export type Made = Snapshot | 'site'

/** A snapshot as a deploy keeps it, and what of it stands open beside it. */
export function columnsOf(snapshot: Snapshot): Pick<DeployRow, 'snapshot' | 'port' | 'health_check_path'> {
  return {
    snapshot: sealSnapshot(snapshot),
    port: snapshot.port,
    health_check_path: snapshot.health_check_path,
  }
}
