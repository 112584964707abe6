import { announceEnvGroup, announceService } from '../changes.ts'
import { useContext, useDatabase } from '../context.ts'
import { linkedServices, touchEnvGroup, type EnvGroupRow } from '../env-groups/store.ts'
import { AppError } from '../errors.ts'
import { isId } from '../ids.ts'
import { recordServiceEvent, listedNames } from '../service-events/store.ts'
import { assertNotDeleting } from '../services/operations.ts'
import { updateService, type ServiceRow } from '../services/store.ts'
import { settleFiles } from './effective.ts'
import { filesFault, placeOf } from './rules.ts'
import type { SecretFileInput } from './schema.ts'
import {
  deleteSecretFileRow,
  getSecretFile,
  secretFileFacts,
  writeSecretFile,
  type SecretFileRow,
} from './store.ts'

/** What has secret files of its own. */
type Holder = ServiceRow | EnvGroupRow

/** A file as it is to be. */
export interface WrittenFile {
  name: string
  content: Uint8Array
  /** Its default when undefined. */
  path: string | undefined
  mode: string
  secret: boolean
}

/** The secret file with this name. Throws `not_found`. */
export function findSecretFile(holder: Holder, name: string): SecretFileRow {
  const found = getSecretFile(holder.id, name)
  if (!found) throw new AppError('not_found', `${labelOf(holder)} has no secret file ${name}`)
  return found
}

/** Writes a secret file from a request. Throws what `writeSecretFiles` throws. */
export function putSecretFile(holder: Holder, name: string, input: SecretFileInput): SecretFileRow {
  const { content, content_base64, ...rest } = input
  const bytes = content === undefined ? Buffer.from(content_base64!, 'base64') : Buffer.from(content)
  writeSecretFiles(holder, [{ name, content: bytes, path: rest.path, mode: rest.mode, secret: rest.secret }])
  return findSecretFile(holder, name)
}

/**
 * Writes secret files of a service or an env group, in place of those with the same names. Containers get them at the next
 * deploy or restart. Throws `invalid_request` for files that do not fit together, in one of the services that get them;
 * `field` is the field of the request, by default that of the file.
 */
export function writeSecretFiles(holder: Holder, files: readonly WrittenFile[], field?: string): void {
  const names = files.map(({ name }) => name)
  change(holder, names, () => insertSecretFiles(holder, files), field)
}

/** Like `writeSecretFiles`, inside of a transaction that settles the files at its end. */
export function insertSecretFiles(holder: Holder, files: readonly WrittenFile[]): void {
  const { vault } = useContext()
  const updated_at = Date.now()
  for (const { name, content, path, mode, secret } of files)
    writeSecretFile({
      holder: holder.id,
      name,
      path: placeOf(name, path),
      mode,
      content: vault.seal(content),
      size_bytes: content.length,
      fingerprint: vault.fingerprint(content),
      is_secret: secret ? 1 : 0,
      updated_at,
    })
}

/** Deletes a secret file; containers keep it until the next deploy or restart. Throws `not_found`. */
export function deleteSecretFile(holder: Holder, name: string): void {
  findSecretFile(holder, name)
  change(holder, [name], () => deleteSecretFileRow(holder.id, name))
}

function change(holder: Holder, names: readonly string[], write: () => void, field?: string): void {
  if (isService(holder)) assertNotDeleting(holder)
  useDatabase().transaction(() => {
    write()
    recordServiceEvent(holder.id, 'secret_files.updated', { details: listedNames(names) })
    if (isService(holder)) {
      updateService(holder.id, {})
      settleFiles(holder.id, field)
    } else {
      touchEnvGroup(holder.id)
      settleGroup(holder, field)
    }
  })
  if (isService(holder)) announceService(holder.id)
  else announceEnvGroup(holder.id)
}

/** Checks the files of a group alone, since it may be linked to nothing, and in each service that gets them. */
function settleGroup(group: EnvGroupRow, field?: string): void {
  const fault = filesFault(secretFileFacts(group.id), [])
  if (fault !== null)
    throw new AppError('invalid_request', `${field ?? fault[0]}: ${labelOf(group)} would have ${fault[1]}`)
  for (const { id, deleting } of linkedServices(group.id)) if (!deleting) settleFiles(id, field)
}

function isService(holder: Holder): holder is ServiceRow {
  return isId('service', holder.id)
}

function labelOf(holder: Holder): string {
  return `${isService(holder) ? 'service' : 'env group'} ${holder.name}`
}
