import type { EnvVar } from '../api/types.ts'

/** A variable in the editor; the id keeps a row's field in place while others come and go. */
export interface Row extends EnvVar {
  id: number
}

let next = 1

export function rowOf({ key, value }: EnvVar = { key: '', value: '' }): Row {
  return { id: next++, key, value }
}

/** The variables of the rows; a row left wholly empty is none. */
export function variablesOf(rows: readonly Row[]): EnvVar[] {
  return rows
    .filter(({ key, value }) => key !== '' || value !== '')
    .map(({ key, value }) => ({ key: key.trim(), value }))
}

/** Rows with `added` over them: a name that is there gets the new value, others follow at the end. */
export function merged(rows: readonly Row[], added: readonly EnvVar[]): Row[] {
  const values = new Map(added.map(({ key, value }) => [key, value]))
  const kept = rows
    .filter(({ key, value }) => key !== '' || value !== '')
    .map((row) => ({ ...row, value: values.get(row.key) ?? row.value }))
  const present = new Set(kept.map(({ key }) => key))
  return [...kept, ...added.filter(({ key }) => !present.has(key)).map(rowOf)]
}

const KEY = /^[A-Za-z_][A-Za-z0-9_]*$/
/** Names that the server sets itself. */
const RESERVED_PREFIX = 'DEPLOYER_'

/** What is wrong with a row's name, or null. */
export function rowFault(row: Row, rows: readonly Row[]): string | null {
  const key = row.key.trim()
  if (key === '') return row.value === '' ? null : 'Give it a name'
  if (!KEY.test(key)) return 'Letters, digits and _ only, no digit first'
  if (key.startsWith(RESERVED_PREFIX)) return 'DEPLOYER_ names are set by the server'
  return rows.some((other) => other.id !== row.id && other.key.trim() === key)
    ? 'This name stands twice'
    : null
}
