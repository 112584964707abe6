import type { DeploySource } from '#server/deploys/schema.ts'
import type { DeployRow } from '#server/deploys/store.ts'

/** Whether a deploy starts from files, which may have to be built. */
export function isFromSource({ trigger, rollback_of, source }: DeployRow): boolean {
  const { kind } = JSON.parse(source) as DeploySource
  return trigger !== 'restart' && rollback_of === null && kind !== 'image'
}
