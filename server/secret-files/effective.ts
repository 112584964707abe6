import { useContext } from '../context.ts'
import { disksOf } from '../disks/list.ts'
import { groupIdsOf } from '../env-groups/store.ts'
import { loadEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { getService, type ServiceRow } from '../services/store.ts'
import { filesFault, type GivenFile } from './rules.ts'
import { listSecretFiles, secretFileFacts, type SecretFileFacts } from './store.ts'

/** The secret files of a service as its containers and builds get them: its groups' and its own, which win by their name. */
export function filesOf(service: ServiceRow): GivenFile[] {
  const { vault } = useContext()
  return effective(service.id, listSecretFiles).map(({ name, path, mode, content }) => ({
    name,
    path,
    mode,
    content: vault.openBytes(content).toString('base64'),
  }))
}

/** The same files without their contents. */
export function fileFactsOf(serviceId: string): SecretFileFacts[] {
  return effective(serviceId, secretFileFacts)
}

/** Texts that change with what containers find in the secret files of a service. */
export function fileStates(serviceId: string): string[] {
  return fileFactsOf(serviceId).map(({ path, mode, fingerprint }) => [path, mode, fingerprint].join(' '))
}

/**
 * Call it in the transaction that wrote the files of a service or a group of it, its links or its disks: checks all its files
 * together. `field` is the field of the request; the file's own by default. Throws `invalid_request`.
 */
export function settleFiles(serviceId: string, field?: string): void {
  const service = getService(serviceId)!
  const mounts = disksOf(service).map(({ mount_path }) => mount_path)
  const fault = filesFault(fileFactsOf(serviceId), mounts)
  if (fault === null) return
  const name = qualifiedName(service.name, loadEnvironment(service.environment_id))
  throw new AppError(
    'invalid_request',
    `${field ?? fault[0]}: service ${name}, with its env groups, would have ${fault[1]}`,
  )
}

/** By name: those of the groups in the order of the links, and the service's own over them. */
function effective<T extends { name: string }>(serviceId: string, list: (holder: string) => T[]): T[] {
  const all = [...groupIdsOf(serviceId), serviceId].flatMap(list)
  return [...new Map(all.map((file) => [file.name, file])).values()]
}
