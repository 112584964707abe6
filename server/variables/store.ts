import { useContext, useDatabase } from '../context.ts'
import { isId } from '../ids.ts'
import { recordServiceEvent, listedNames } from '../service-events/store.ts'
import { noteReferences } from './callers-references.ts'
import { parseValue, type TargetKind } from './references.ts'
import type { Variable } from './rules.ts'

/** A stored variable, sealed. */
export interface SealedVariable {
  key: string
  value: Uint8Array
}

/** The variables of a service or an env group itself, by its id, in the order in which they were given. */
export function readSealed(holder: string): SealedVariable[] {
  const { table, owner } = tableOf(holder)
  return useDatabase().all<SealedVariable>(
    `SELECT key, value FROM ${table} WHERE ${owner} = ? ORDER BY position`,
    holder,
  )
}

/** The same variables, unsealed. */
export function readVariables(holder: string): Variable[] {
  return openVariables(readSealed(holder))
}

/** Unseals variables. */
export function openVariables(sealed: readonly SealedVariable[]): Variable[] {
  const { vault } = useContext()
  return sealed.map(({ key, value }) => ({ key, value: vault.open(value) }))
}

/** Replaces all variables of a service or an env group with these, and its recorded references with those in them. */
export function writeVariables(holder: string, variables: readonly Variable[]): void {
  const database = useDatabase()
  const { table, owner } = tableOf(holder)
  database.transaction(() => {
    noteReferences(holder)
    const names = changedKeys(readVariables(holder), variables)
    if (names.length > 0) recordServiceEvent(holder, 'variables.updated', { details: listedNames(names) })
    database.run(`DELETE FROM ${table} WHERE ${owner} = ?`, holder)
    forgetReferences(holder)
    insertVariables(holder, variables)
  })
}

/** The names of variables that are added, changed or removed. */
function changedKeys(before: readonly Variable[], after: readonly Variable[]): string[] {
  const [old, now] = [before, after].map((all) => new Map(all.map(({ key, value }) => [key, value])))
  return [...new Set([...old!.keys(), ...now!.keys()])].filter((key) => old!.get(key) !== now!.get(key))
}

/** Like `writeVariables`, for a new holder that has none. Call it in the transaction that creates it. */
export function insertVariables(holder: string, variables: readonly Variable[]): void {
  const { vault, database } = useContext()
  const { table, owner } = tableOf(holder)
  for (const [position, { key, value }] of variables.entries()) {
    database.run(
      `INSERT INTO ${table} (${owner}, key, value, position) VALUES (?, ?, ?, ?)`,
      holder,
      key,
      vault.seal(value),
      position,
    )
    for (const part of parseValue(value)) {
      if (typeof part === 'string') continue
      database.run(
        'INSERT OR IGNORE INTO variable_references (holder, key, kind, name, property) VALUES (?, ?, ?, ?, ?)',
        holder,
        key,
        part.kind,
        part.name,
        part.property,
      )
    }
  }
}

/** Deletes the recorded references of a holder that is being deleted. */
export function forgetReferences(holder: string): void {
  useDatabase().run('DELETE FROM variable_references WHERE holder = ?', holder)
}

/** Stores the PORT of a service's whole environment, so that views need not unseal the variables. */
export function keepVariablePort(serviceId: string, port: number | null): void {
  useDatabase().run('UPDATE services SET variable_port = ? WHERE id = ?', port, serviceId)
}

/** A variable that refers to something: of a service, or of a group that is linked to a service in the environment. */
export interface Referrer {
  holder: 'service' | 'env group'
  name: string
  key: string
}

/**
 * The variables that refer to this name inside an environment. A variable that is overridden by another with the same key
 * does not count, nor does a service that is being deleted, whose references no longer count.
 */
export function referrersOf(kind: TargetKind, environmentId: string, name: string): Referrer[] {
  return useDatabase().all<Referrer>(
    `SELECT 'service' AS holder, services.name, held.key
     FROM variable_references AS held JOIN services ON services.id = held.holder
     WHERE held.kind = ?1 AND held.name = ?2 AND services.environment_id = ?3
     UNION
     SELECT 'env group', env_groups.name, held.key
     FROM variable_references AS held
     JOIN env_groups ON env_groups.id = held.holder
     JOIN env_group_links AS link ON link.group_id = env_groups.id
     JOIN services ON services.id = link.service_id
     WHERE held.kind = ?1 AND held.name = ?2 AND services.environment_id = ?3 AND services.deleting = 0
       AND NOT EXISTS (SELECT 1 FROM service_variables AS own WHERE own.service_id = services.id AND own.key = held.key)
       AND NOT EXISTS (
         SELECT 1 FROM env_group_links AS later JOIN env_group_variables AS its ON its.group_id = later.group_id
         WHERE later.service_id = services.id AND later.position > link.position AND its.key = held.key)
     ORDER BY 1 DESC, 2, 3`,
    kind,
    name,
    environmentId,
  )
}

/** Services and env groups store their variables in the same way, each in a table of its own. */
function tableOf(holder: string): { table: string; owner: string } {
  return isId('envGroup', holder)
    ? { table: 'env_group_variables', owner: 'group_id' }
    : { table: 'service_variables', owner: 'service_id' }
}
