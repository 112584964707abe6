import { randomHex } from '../ids.ts'
import { publicUrl } from '../network/public-address.ts'
import { hostsOf } from '../services/hosts.ts'
import type { Variable } from '../variables/rules.ts'
import { readVariables } from '../variables/store.ts'
import type { WantedService, WantedVariable } from './project.ts'
import type { Waiting } from './references.ts'
import type { Standing } from './standing.ts'
import { isAsWritten, writtenOf } from './written.ts'

/** 256 bits. */
const GENERATED_BYTES = 32

/** The public URL that a service has or will have once it is created; null for one without. */
export function ownUrl({ name, environment, type }: WantedService, standing: Standing): string | null {
  const there = standing.service(environment, name)
  const [host] = hostsOf({ name, type: there?.type ?? type ?? 'web_service' }, { name: environment })
  return host === undefined ? null : publicUrl(host)
}

/** How an apply treats variables that were set by hand. */
export interface VariablePolicy {
  keepsHandSet: boolean
}

/** The variables of a service or an env group as an apply wants them. */
export interface MergedVariables {
  /** All of them, including those that the file does not name. */
  variables: Variable[]
  /** Those that the apply writes because they differ from the current ones. */
  written: { wanted: WantedVariable; value: string; isNew: boolean }[]
  notes: string[]
}

/** The owner of variables: its id if it exists, its name for notes, and its URL if it has one. */
interface Holder {
  id: string | undefined
  label: string
  url: string | null
}

/** Merges wanted variables into the current ones. None is removed, and those that wait for a value are not changed. */
export function mergeVariables(
  { id: holder, label, url }: Holder,
  wanted: readonly WantedVariable[],
  waiting: Waiting,
  { keepsHandSet }: VariablePolicy,
): MergedVariables {
  const there = new Map(
    (holder === undefined ? [] : readVariables(holder)).map(({ key, value }) => [key, value]),
  )
  const record = holder === undefined || !keepsHandSet ? new Map<string, never>() : writtenOf(holder)
  const merged: MergedVariables = { variables: [], written: [], notes: [] }
  for (const variable of wanted) {
    const { key, from, place } = variable
    const old = there.get(key)
    if (from === 'by hand') {
      if (old === undefined)
        merged.notes.push(
          `line ${place.line}: ${key} of ${label} has no value yet (sync: false): set it by hand`,
        )
      continue
    }
    if (waiting.has(variable)) {
      merged.notes.push(
        `line ${place.line}: ${key} of ${label} refers to ${waiting.get(variable)}, which has no value yet: apply the file again when it has`,
      )
      continue
    }
    if (from === 'generated' && old !== undefined) continue
    const value = valueOf(from, url)
    // A service without an address is reported as a fault elsewhere.
    if (value === null || value === old) continue
    if (keepsHandSet && old !== undefined && !isAsWritten(record.get(key), old)) {
      merged.notes.push(`line ${place.line}: ${key} of ${label} was set by hand and stays as it is`)
      continue
    }
    merged.written.push({ wanted: variable, value, isNew: old === undefined })
    there.set(key, value)
  }
  merged.variables = [...there].map(([key, value]) => ({ key, value }))
  return merged
}

function valueOf(from: Exclude<WantedVariable['from'], 'by hand'>, url: string | null): string | null {
  if (from === 'own url') return url
  return from === 'generated' ? randomHex(GENERATED_BYTES) : from.value
}
