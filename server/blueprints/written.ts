import { useContext, useDatabase } from '../context.ts'

/** A variable, or a secret file, as an apply wrote it. */
export interface WrittenVariable {
  fingerprint: string
  generated: number
}

/** The variables of a service or an env group as applies wrote them, by key. */
export function writtenOf(holder: string): Map<string, WrittenVariable> {
  const rows = useDatabase().all<WrittenVariable & { key: string }>(
    'SELECT key, fingerprint, generated FROM blueprint_variables WHERE holder = ?',
    holder,
  )
  return new Map(rows.map(({ key, ...written }) => [key, written]))
}

/** Records what an apply wrote, so that a later apply can distinguish it from what was set by hand. */
export function recordWritten(holder: string, key: string, value: string, generated: boolean): void {
  useDatabase().run(
    `INSERT INTO blueprint_variables (holder, key, fingerprint, generated) VALUES (?1, ?2, ?3, ?4)
     ON CONFLICT (holder, key) DO UPDATE SET fingerprint = ?3, generated = ?4`,
    holder,
    key,
    fingerprintOf(value),
    generated ? 1 : 0,
  )
}

/** Whether a variable is as an apply wrote it. */
export function isAsWritten(written: WrittenVariable | undefined, value: string): boolean {
  return written?.fingerprint === fingerprintOf(value)
}

function fingerprintOf(value: string): string {
  return useContext().vault.fingerprint(`variable ${value}`)
}
