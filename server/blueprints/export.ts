import { assertSeesSecrets } from '../access/check.ts'
import { callersAccess } from '../access/caller.ts'
import { useContext } from '../context.ts'
import { KINDS } from '../datastores/kinds.ts'
import { DatabaseName, RoleName } from '../datastores/postgres-names.ts'
import type { Datastore } from '../datastores/schema.ts'
import { viewDatastores } from '../datastores/view.ts'
import { linkedServices, listEnvGroups, type EnvGroupRow } from '../env-groups/store.ts'
import { hasOtherNodes } from '../nodes/store.ts'
import { PRODUCTION } from '../environments/production.ts'
import type { Environment } from '../environments/store.ts'
import type { Service } from '../services/schema.ts'
import { getService } from '../services/store.ts'
import { viewServices } from '../services/view.ts'
import { readVariables } from '../variables/store.ts'
import { DATASTORE_FIELDS, SERVICE_FIELDS } from './compare.ts'
import { isDefault } from './defaults.ts'
import { withWrittenDisks } from './disks.ts'
import { fileEntries } from './files.ts'
import { isPlainValue, type ExportedValues } from './plain-values.ts'
import { writeNative } from './write.ts'
import { isAsWritten, writtenOf } from './written.ts'

/**
 * Writes an environment as a native blueprint that changes nothing when it is applied: its services and datastores, and the
 * env groups that they are linked to; for production also the groups without links. Values that are not written are left to be
 * set by hand.
 */
export function exportBlueprint(environment: Environment, wanted: ExportedValues, origin: string): string {
  if (wanted === 'all') assertSeesSecrets()
  // Which values are plainly no secrets is a guess, and who sees no secrets gets no values at all.
  const values = callersAccess()?.secrets === false ? 'none' : wanted
  const groups = listEnvGroups().filter((group) => belongs(group, environment))
  const file = {
    environment: environment.name,
    env_groups: groups.map(({ id, name }) => ({
      name,
      ...listed('vars', variablesOf(id, values)),
      ...listed('secret_files', fileEntries(id, values)),
    })),
    datastores: viewDatastores(environment)
      .filter(({ status }) => status !== 'deleting')
      .map(datastoreEntry),
    services: viewServices(environment)
      .filter(({ state }) => state !== 'deleting')
      .map((service) => serviceEntry(service, values)),
  }
  const present = Object.entries(file).filter(([, part]) => part.length > 0)
  return writeNative(Object.fromEntries(present), origin)
}

function belongs({ id }: EnvGroupRow, environment: Environment): boolean {
  const linked = linkedServices(id)
  return linked.length === 0
    ? environment.name === PRODUCTION
    : linked.some(({ environment_id }) => environment_id === environment.id)
}

function datastoreEntry(datastore: Datastore): Record<string, unknown> {
  const { name, kind, version, database, username } = datastore
  const owner = KINDS[kind].hasDatabases ? givenOwner(database, username) : {}
  return { name, kind, version, ...owner, ...placeOf(datastore), ...chosen(datastore, DATASTORE_FIELDS) }
}

/** Leaves out names from an earlier version that are no longer allowed: when they are absent, a datastore keeps its own. */
function givenOwner(database: string | null, username: string): { database?: string; username?: string } {
  return {
    ...(database !== null && DatabaseName.safeParse(database).success ? { database } : {}),
    ...(RoleName.safeParse(username).success ? { username } : {}),
  }
}

function serviceEntry(service: Service, values: ExportedValues): Record<string, unknown> {
  const { id, name, type } = service
  const { env_groups, repo_url, ...settings } = chosen(withWrittenDisks(service), SERVICE_FIELDS)
  const address = values === 'all' ? addressOf(service) : repo_url
  return {
    name,
    type,
    ...(address ? { repo_url: address } : {}),
    ...placeOf(service),
    ...Object.fromEntries(Object.entries(settings).map(([field, value]) => [field, written(field, value)])),
    ...listed('env', variablesOf(id, values)),
    ...listed('secret_files', fileEntries(id, values)),
    ...(env_groups === undefined ? {} : { env_groups }),
  }
}

/** A setting as a file has it: without passwords, which nobody can read, and without parts that are not set. */
function written(field: string, value: unknown): unknown {
  switch (field) {
    case 'basic_auth': {
      const { users, except_paths } = value as NonNullable<Service['basic_auth']>
      return {
        users: users.map(({ username }) => ({ username, sync: false })),
        ...listed('except_paths', except_paths),
      }
    }
    case 'placement':
      return withoutNulls(value as object)
    case 'ip_allow_list':
      return (value as object[]).map(withoutNulls)
    case 'maintenance':
      return withoutNulls(value as object)
    default:
      return value
  }
}

/** The node of something with data, where there is a choice. */
function placeOf({ node_name }: Pick<Service | Datastore, 'node_name'>): { node?: string } {
  return node_name !== null && hasOtherNodes() ? { node: node_name } : {}
}

function withoutNulls(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== null))
}

/** The repository with its credentials. */
function addressOf({ id, repo_url }: Service): string | null {
  const sealed = getService(id)?.repo_credentials
  return sealed ? useContext().vault.open(sealed) : repo_url
}

/** The fields that differ from their defaults. */
function chosen<T extends object>(view: T, fields: readonly (keyof T & string)[]): Record<string, unknown> {
  const given = fields.map((field) => [field, view[field]] as const)
  return Object.fromEntries(given.filter(([field, value]) => field !== 'type' && !isDefault(field, value)))
}

function variablesOf(holder: string, values: ExportedValues): Record<string, unknown>[] {
  const written = writtenOf(holder)
  return readVariables(holder).map(({ key, value }) => {
    const record = written.get(key)
    const isGenerated = record?.generated === 1 && isAsWritten(record, value)
    const isPlain = !isGenerated && isPlainValue(key, value)
    const isHidden = values === 'none' || (values === 'plain' && !isPlain)
    return isHidden ? { key, sync: false } : { key, value }
  })
}

function listed(field: string, items: unknown[]): Record<string, unknown[]> {
  return items.length === 0 ? {} : { [field]: items }
}
