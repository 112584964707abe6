import type { Datastore } from '../datastores/schema.ts'
import { DatastorePatch } from '../datastores/schema.ts'
import type { Service } from '../services/schema.ts'
import { ServiceInput } from '../services/input.ts'
import type { BlueprintAction } from './schema.ts'
import { isDefault } from './defaults.ts'
import type { MergedFiles } from './files.ts'
import type { MergedVariables } from './variables.ts'

/** How much of a long text is shown, from a little before the place where the two texts differ. */
const MAX_SHOWN_CHARACTERS = 120
const LEAD_CHARACTERS = 20

const {
  env: _,
  deploy: _deploy,
  name: _name,
  environment: _environment,
  // Only a move changes it, and what it is by default says nothing about the file.
  node: _node,
  ...serviceFields
} = ServiceInput.shape
/** The fields of a service that a file may set, variables left out. */
export const SERVICE_FIELDS = Object.keys(serviceFields) as (keyof typeof serviceFields & keyof Service)[]
/** The fields of a datastore that can be changed. */
export const DATASTORE_FIELDS = Object.keys(DatastorePatch.shape) as (keyof DatastorePatch &
  keyof Datastore)[]
/** Those that are fixed when it is created. */
export const FIXED_DATASTORE_FIELDS = ['version', 'database', 'username'] as const

type Change = Pick<BlueprintAction, 'action' | 'changes'>

/** The differences between two views of a resource, in some of its fields, in its variables and in its secret files. */
export function changeBetween<T extends object>(
  before: T | undefined,
  after: T,
  fields: readonly (keyof T & string)[],
  variables: MergedVariables | undefined,
  files: MergedFiles | undefined,
): Change {
  const changed = variables?.written.map(
    ({ wanted, isNew }) => `env.${wanted.key}: ${isNew ? 'added' : 'changed'}`,
  )
  const changedFields = fields.flatMap((field) => {
    const isSame = before
      ? JSON.stringify(before[field]) === JSON.stringify(after[field])
      : isDefault(field, after[field])
    if (isSame) return []
    const [then, now] = [shown(before?.[field]), shown(after[field])]
    const from = differenceOf(then, now) - LEAD_CHARACTERS
    return [`${field}: ${cut(then, from)} -> ${cut(now, from)}`]
  })
  const changedFiles = files?.written.map(
    ({ file, isNew }) => `secret_files.${file.name}: ${isNew ? 'added' : 'changed'}`,
  )
  const changes = [...changedFields, ...(changed ?? []), ...(changedFiles ?? [])]
  if (before === undefined) return { action: 'create', changes }
  return { action: changes.length > 0 ? 'update' : 'unchanged', changes }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value) && !value.some((item) => typeof item === 'object'))
    return value.length === 0 ? 'none' : value.join(', ')
  return typeof value === 'string' && !/[\n\r\t]/.test(value) ? value : JSON.stringify(value)
}

/** The index at which two texts begin to differ. */
function differenceOf(left: string, right: string): number {
  let at = 0
  while (at < left.length && left[at] === right[at]) at++
  return at
}

/** The part of a long text that contains the index `from`. */
function cut(text: string, from: number): string {
  if (text.length <= MAX_SHOWN_CHARACTERS) return text
  const start = Math.max(0, Math.min(from, text.length - MAX_SHOWN_CHARACTERS))
  const end = start + MAX_SHOWN_CHARACTERS
  return `${start > 0 ? '…' : ''}${text.slice(start, end)}${end < text.length ? '…' : ''}`
}
