import type { Datastore } from '../datastores/schema.ts'
import { DatastorePatch } from '../datastores/schema.ts'
import type { Service } from '../services/schema.ts'
import { ServiceInput } from '../services/schema.ts'
import type { BlueprintAction } from './schema.ts'
import { isUsual } from './settings.ts'
import type { MergedVariables } from './variables.ts'

/** Of a long command the beginning says which it is. */
const MAX_SHOWN_CHARACTERS = 120

const {
  env: _,
  deploy: _deploy,
  name: _name,
  environment: _environment,
  ...serviceFields
} = ServiceInput.shape
/** The fields of a service that a file may set, variables left out. */
export const SERVICE_FIELDS = Object.keys(serviceFields) as (keyof typeof serviceFields & keyof Service)[]
/** The fields of a datastore that can be changed. */
export const DATASTORE_FIELDS = Object.keys(DatastorePatch.shape) as (keyof DatastorePatch &
  keyof Datastore)[]
/** Those that are chosen when it is made. */
export const FIXED_DATASTORE_FIELDS = ['version', 'database', 'username'] as const

type Change = Pick<BlueprintAction, 'action' | 'changes'>

/** What differs between two views of a resource in some of its fields, and in its variables. */
export function changeBetween<T extends object>(
  before: T | undefined,
  after: T,
  fields: readonly (keyof T & string)[],
  variables: MergedVariables | undefined,
): Change {
  const changed = variables?.written.map(
    ({ wanted, isNew }) => `env.${wanted.key}: ${isNew ? 'added' : 'changed'}`,
  )
  const told = fields.flatMap((field) => {
    const now = shown(after[field])
    if (before === undefined) return isUsual(field, after[field]) ? [] : [`${field}: ${now}`]
    const then = shown(before[field])
    return JSON.stringify(before[field]) === JSON.stringify(after[field])
      ? []
      : [`${field}: ${then} -> ${now}`]
  })
  const changes = [...told, ...(changed ?? [])]
  if (before === undefined) return { action: 'create', changes }
  return { action: changes.length > 0 ? 'update' : 'unchanged', changes }
}

function shown(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  const text = Array.isArray(value)
    ? value.length === 0
      ? 'none'
      : value.join(', ')
    : typeof value === 'string' && !/[\n\r\t]/.test(value)
      ? value
      : JSON.stringify(value)
  return text.length > MAX_SHOWN_CHARACTERS ? `${text.slice(0, MAX_SHOWN_CHARACTERS)}…` : text
}
