import type { EnvVar } from '../api/types.ts'
import { touchedOf, valueOf } from '../form/merge.ts'

/** A variable in the editor; the id keeps a row's field in place while others are added and removed. */
export interface Row extends EnvVar {
  id: number
}

/** Variables by name. */
export type Values = Readonly<Record<string, string>>

let next = 1

export function rowOf({ key, value }: EnvVar = { key: '', value: '' }): Row {
  return { id: next++, key, value }
}

/** The variables of the rows, without empty rows. */
export function variablesOf(rows: readonly Row[]): EnvVar[] {
  return rows.filter((row) => !isEmpty(row)).map(({ key, value }) => ({ key: key.trim(), value }))
}

export function valuesOf(variables: readonly EnvVar[]): Values {
  return Object.fromEntries(variables.map(({ key, value }) => [key, value]))
}

/** Rows that hold these values: rows whose variable still exists stay, and so do empty rows. */
export function rowsOf(values: Values, rows: readonly Row[]): Row[] {
  const kept = rows
    .filter((row) => isEmpty(row) || valueOf(values, row.key.trim()) !== undefined)
    .map((row) => ({ ...row, value: valueOf(values, row.key.trim()) ?? '' }))
  const present = new Set(kept.map(({ key }) => key.trim()))
  const added = Object.entries(values).filter(([key]) => !present.has(key))
  return [...kept, ...added.map(([key, value]) => rowOf({ key, value }))]
}

/** Rows with `added` over them: an existing name gets the new value, new names are added at the end. */
export function merged(rows: readonly Row[], added: readonly EnvVar[]): Row[] {
  const filled = rows.filter((row) => !isEmpty(row))
  return rowsOf({ ...valuesOf(variablesOf(rows)), ...valuesOf(added) }, filled)
}

/** The changes that turn the loaded variables into those of the form, and touch no others. */
export function envPatch(base: Values, values: Values): { set: EnvVar[]; unset: string[] } {
  const names = touchedOf({ base, mine: values })
  return {
    set: names.flatMap((key) => {
      const value = valueOf(values, key)
      return value === undefined ? [] : [{ key, value }]
    }),
    unset: names.filter((key) => valueOf(values, key) === undefined),
  }
}

function isEmpty({ key, value }: Row): boolean {
  return key === '' && value === ''
}

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Names that the server sets itself. */
const RESERVED_PREFIX = 'DEPLOYER_'

/** Errors in the names of rows, by the row's id. */
export function rowFaults(rows: readonly Row[]): ReadonlyMap<number, string> {
  const uses = new Map<string, number>()
  for (const { key } of rows) uses.set(key.trim(), (uses.get(key.trim()) ?? 0) + 1)
  const faults = new Map<number, string>()
  for (const row of rows) {
    const fault = rowFault(row, uses)
    if (fault !== null) faults.set(row.id, fault)
  }
  return faults
}

function rowFault(row: Row, uses: ReadonlyMap<string, number>): string | null {
  const key = row.key.trim()
  if (key === '') return row.value === '' ? null : 'Enter a name'
  if (!KEY.test(key)) return 'Use only letters, digits and _, and do not start with a digit'
  if (key.startsWith(RESERVED_PREFIX)) return 'Names that start with DEPLOYER_ are set by the server'
  return uses.get(key)! > 1 ? 'This name is used twice' : null
}
