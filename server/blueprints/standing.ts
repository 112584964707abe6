import { listDatastores, type DatastoreRow } from '../datastores/store.ts'
import { groupNamesByService, listEnvGroups, type EnvGroupRow } from '../env-groups/store.ts'
import { listEnvironments, type Environment } from '../environments/store.ts'
import { withWrittenDisks } from './disks.ts'
import type { Project, WantedService } from './project.ts'
import { listRegistryCredentials } from '../registry-credentials/store.ts'
import { listServices, type ServiceRow } from '../services/store.ts'
import { viewSettings } from '../services/view.ts'

/** What already exists on the server in the environments that a project uses, read once. */
export class Standing {
  readonly environments: ReadonlyMap<string, Environment>
  readonly groups: ReadonlyMap<string, EnvGroupRow>
  /** The ids and names of the registry credentials. */
  readonly credentials: ReadonlySet<string>
  readonly #services = new Map<string, Map<string, ServiceRow>>()
  readonly #datastores = new Map<string, Map<string, DatastoreRow>>()

  constructor() {
    this.environments = byName(listEnvironments())
    this.groups = byName(listEnvGroups())
    this.credentials = new Set(listRegistryCredentials().flatMap(({ id, name }) => [id, name]))
  }

  service(environment: string, name: string): ServiceRow | undefined {
    return this.#of(this.#services, environment, ({ id }) => listServices(id)).get(name)
  }

  datastore(environment: string, name: string): DatastoreRow | undefined {
    return this.#of(this.#datastores, environment, ({ id }) => listDatastores(id)).get(name)
  }

  #of<T extends { name: string }>(
    known: Map<string, Map<string, T>>,
    name: string,
    list: (environment: Environment) => T[],
  ): Map<string, T> {
    const environment = this.environments.get(name)
    const found = known.get(name) ?? byName(environment ? list(environment) : [])
    known.set(name, found)
    return found
  }
}

/** The settings of a service, with the names of the env groups that it is linked to. */
export type ServiceSettings = ReturnType<typeof viewSettings> & { env_groups: string[] }

/** The settings of those services of a project that already exist. */
export function settingsOf(
  { services }: Project,
  standing: Standing,
): ReadonlyMap<WantedService, ServiceSettings> {
  const groups = new Map<string, Map<string, string[]>>()
  const groupsOf = ({ id, environment_id }: ServiceRow) => {
    const known = groups.get(environment_id) ?? groupNamesByService(environment_id)
    groups.set(environment_id, known)
    return known.get(id) ?? []
  }
  return new Map(
    services.flatMap((wanted) => {
      const row = standing.service(wanted.environment, wanted.name)
      return row ? [[wanted, { ...withWrittenDisks(viewSettings(row)), env_groups: groupsOf(row) }]] : []
    }),
  )
}

function byName<T extends { name: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.name, row]))
}
