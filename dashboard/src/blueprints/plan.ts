import type { BlueprintAction } from '../api/types.ts'
import type { Tone } from '../ui/StatusBadge.vue'

export const ACTION: Record<BlueprintAction['action'], { sign: string; label: string; tone: Tone }> = {
  create: { sign: '+', label: 'Create', tone: 'success' },
  update: { sign: '~', label: 'Change', tone: 'warning' },
  unchanged: { sign: '=', label: 'Unchanged', tone: 'neutral' },
}

export const RESOURCE: Record<BlueprintAction['resource'], string> = {
  environment: 'Environment',
  env_group: 'Env group',
  datastore: 'Datastore',
  service: 'Service',
}

/** A change to one field, split into parts for display. */
export interface ShownChange {
  field: string
  /** The old value; null for a new field. */
  before: string | null
  after: string
}

/** `port: 3000 -> 8080`, `port: none -> 3000`, `env.KEY: added`. */
export function shownChange(change: string): ShownChange {
  const at = change.indexOf(': ')
  const field = change.slice(0, at)
  const rest = change.slice(at + 2)
  const arrow = rest.indexOf(' -> ')
  const before = rest.slice(0, Math.max(0, arrow))
  return {
    field,
    before: before === '' || before === 'none' ? null : before,
    after: arrow < 0 ? rest : rest.slice(arrow + 4),
  }
}

/** How many resources a plan creates, changes and leaves: `2 to create, 1 unchanged`. */
export function summary(actions: readonly BlueprintAction[], isDone: boolean): string {
  const words = isDone
    ? { create: 'created', update: 'changed', unchanged: 'unchanged' }
    : { create: 'to create', update: 'to change', unchanged: 'unchanged' }
  const counts = (['create', 'update', 'unchanged'] as const).map((kind) => ({
    kind,
    count: actions.filter(({ action }) => action === kind).length,
  }))
  const told = counts.filter(({ count }) => count > 0).map(({ kind, count }) => `${count} ${words[kind]}`)
  return told.length === 0 ? 'The file defines nothing' : told.join(', ')
}
