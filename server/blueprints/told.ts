import type { BlueprintAction, BlueprintResult } from './schema.ts'

const DONE: Record<BlueprintAction['action'], string | null> = {
  create: 'created',
  update: 'updated',
  unchanged: null,
}

/** What an apply has changed, for the audit log: `service api: port: 3000 -> 8080`. The values of variables are not in it. */
export function changesOfApply({ actions }: Pick<BlueprintResult, 'actions'>): string[] {
  return actions.flatMap(({ resource, name, action, changes }) => {
    const done = DONE[action]
    if (done === null) return []
    const told = action === 'update' ? changes : [done]
    return told.map((change) => `${resource} ${name}: ${change}`)
  })
}
