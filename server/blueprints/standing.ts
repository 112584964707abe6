import { listDatastores, type DatastoreRow } from '../datastores/store.ts'
import { viewDatastores } from '../datastores/view.ts'
import type { Datastore } from '../datastores/schema.ts'
import { listEnvGroups, type EnvGroupRow } from '../env-groups/store.ts'
import { listEnvironments, type Environment } from '../environments/store.ts'
import type { Service } from '../services/schema.ts'
import type { Project } from './project.ts'
import { listServices, type ServiceRow } from '../services/store.ts'
import { viewServices } from '../services/view.ts'

/** What there is of the environments that a project has to do with, read once. */
export class Standing {
  readonly environments: ReadonlyMap<string, Environment>
  readonly groups: ReadonlyMap<string, EnvGroupRow>
  readonly #services = new Map<string, Map<string, ServiceRow>>()
  readonly #datastores = new Map<string, Map<string, DatastoreRow>>()

  constructor() {
    this.environments = byName(listEnvironments())
    this.groups = byName(listEnvGroups())
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

/** The services and datastores that a project is about as the wire has them, by environment and name. */
export class Views {
  readonly #services = new Map<string, Service>()
  readonly #datastores = new Map<string, Datastore>()

  constructor({ services, datastores }: Project) {
    const wanted = new Set(services.map(({ environment, name }) => keyOf(environment, name)))
    const places = new Set([...services, ...datastores].map(({ environment }) => environment))
    for (const environment of listEnvironments().filter(({ name }) => places.has(name))) {
      for (const view of viewServices(environment, ({ name }) => wanted.has(keyOf(environment.name, name))))
        this.#services.set(keyOf(environment.name, view.name), view)
      for (const view of viewDatastores(environment))
        this.#datastores.set(keyOf(environment.name, view.name), view)
    }
  }

  service(environment: string, name: string): Service | undefined {
    return this.#services.get(keyOf(environment, name))
  }

  datastore(environment: string, name: string): Datastore | undefined {
    return this.#datastores.get(keyOf(environment, name))
  }
}

/** Tells things of one kind apart; no name holds a slash. */
export function keyOf(environment: string, name: string): string {
  return `${environment}/${name}`
}

function byName<T extends { name: string }>(rows: readonly T[]): Map<string, T> {
  return new Map(rows.map((row) => [row.name, row]))
}
