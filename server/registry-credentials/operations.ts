import { announceService } from '../changes.ts'
import { timestamp } from '../clock.ts'
import { useContext, useDatabase } from '../context.ts'
import { isUniqueViolation } from '../database/index.ts'
import { AppError } from '../errors.ts'
import { newId } from '../ids.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { updateService } from '../services/store.ts'
import type { RegistryCredential, RegistryCredentialInput, RegistryCredentialPatch } from './schema.ts'
import {
  deleteRegistryCredentialRow,
  findRegistryCredential,
  getRegistryCredential,
  insertRegistryCredential,
  listRegistryCredentials,
  servicesNaming,
  updateRegistryCredential,
  type RegistryCredentialRow,
} from './store.ts'

/** More than anyone has registries: each pull looks through all of them. */
const MAX_CREDENTIALS = 200

/** Stores a registry credential. Throws `conflict` when the name is in use, or when there are too many. */
export function createRegistryCredential(input: RegistryCredentialInput): RegistryCredentialRow {
  const { name, host, username, password, path_prefix = null } = input
  if (listRegistryCredentials().length >= MAX_CREDENTIALS)
    throw new AppError(
      'conflict',
      `there are ${MAX_CREDENTIALS} registry credentials: delete one that is not needed`,
    )
  const now = Date.now()
  const row: RegistryCredentialRow = {
    ...{ id: newId('registryCredential'), name, host, path_prefix, username },
    password: useContext().vault.seal(password),
    ...{ created_at: now, updated_at: now },
  }
  named(name, () => insertRegistryCredential(row))
  return row
}

/**
 * Changes a registry credential, from the next pull on. Throws `invalid_request` for another host without a password,
 * `conflict` when the name is in use.
 */
export function patchRegistryCredential(
  row: RegistryCredentialRow,
  { password, ...patch }: RegistryCredentialPatch,
): RegistryCredentialRow {
  // Otherwise anyone who may change a credential could have its password sent to a host of their own.
  if (patch.host !== undefined && patch.host !== row.host && password === undefined)
    throw new AppError(
      'invalid_request',
      `password: the stored password is only for ${row.host}: give the one for ${patch.host} with the new host`,
    )
  const given = Object.entries(patch).filter(([, value]) => value !== undefined)
  const columns = {
    ...(Object.fromEntries(given) as Partial<RegistryCredentialRow>),
    ...(password === undefined ? {} : { password: useContext().vault.seal(password) }),
    updated_at: Date.now(),
  }
  named(patch.name ?? row.name, () => updateRegistryCredential(row.id, columns))
  if (columns.name !== undefined) for (const { id } of servicesNaming(row.id)) announceService(id)
  return getRegistryCredential(row.id)!
}

/** Deletes a registry credential. Throws `conflict` while services name it, unless it is forced: then they name none. */
export function deleteRegistryCredential(row: RegistryCredentialRow, force: boolean): void {
  const naming = servicesNaming(row.id)
  if (naming.length > 0 && !force) {
    const names = naming.map(({ name, environment }) => qualifiedName(name, { name: environment }))
    throw new AppError(
      'conflict',
      `registry credential ${row.name} is named by ${names.join(', ')}: choose another one there first, or repeat with force=true`,
    )
  }
  useDatabase().transaction(() => {
    for (const { id } of naming) updateService(id, { registry_credential_id: null })
    deleteRegistryCredentialRow(row.id)
  })
  for (const { id } of naming) announceService(id)
}

/** A registry credential as the API returns it: without its password. */
export function viewRegistryCredential(row: RegistryCredentialRow): RegistryCredential {
  return {
    ...{ id: row.id, name: row.name, host: row.host, username: row.username, path_prefix: row.path_prefix },
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

/** Runs a write that gives a credential this name. */
function named(name: string, write: () => void): void {
  try {
    write()
  } catch (cause) {
    if (!isUniqueViolation(cause)) throw cause
    const { id } = findRegistryCredential(name)
    throw new AppError('conflict', `name: ${name} is in use by registry credential ${id}`, { cause })
  }
}
