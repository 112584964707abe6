import { randomHex } from '../ids.ts'
import type { Variable } from '../variables/rules.ts'
import { readVariables } from '../variables/store.ts'
import type { WantedVariable } from './project.ts'
import type { Waiting } from './references.ts'
import { isAsWritten, writtenOf } from './written.ts'

/** 256 bits. */
const GENERATED_BYTES = 32

/** How an apply treats variables that were set by hand. */
export interface VariablePolicy {
  keepsHandSet: boolean
}

/** The variables of a service or an env group as an apply wants them. */
export interface MergedVariables {
  /** All of them, those that the file does not name included. */
  variables: Variable[]
  /** Those that the apply writes; they differ from what is there. */
  written: { wanted: WantedVariable; value: string; isNew: boolean }[]
  notes: string[]
}

/**
 * Lays wanted variables over those that are there. Nothing is removed, and what waits for a value is left as it is.
 * `label` is the holder's, for notes.
 */
export function mergeVariables(
  holder: string | undefined,
  label: string,
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
        `line ${place.line}: ${key} of ${label} leads to ${waiting.get(variable)}, which has no value yet: apply the file again when it has`,
      )
      continue
    }
    if (from === 'generated' && old !== undefined) continue
    const value = from === 'generated' ? randomHex(GENERATED_BYTES) : from.value
    if (value === old) continue
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
