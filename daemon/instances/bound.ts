import { getDeploy, openSnapshot } from '#server/deploys/store.ts'

/**
 * Whether the instances of a deploy have disks, which keep them on their node. What their service is set to have by now is for
 * later deploys.
 */
export function hasDisks(deployId: string): boolean {
  const deploy = getDeploy(deployId)
  return ((deploy && openSnapshot(deploy))?.disks ?? []).length > 0
}
