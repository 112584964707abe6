import { useDatabase } from '../context.ts'
import { PRODUCTION } from '../environments/production.ts'
import type { Access } from './access.ts'

type Restrictions = Pick<Access, 'environments' | 'services'>

/**
 * What a caller who is restricted to environments or services may reach. Everything else does not exist for them. Restricted
 * to both, they reach the services that are in one of the environments. It reads the database each time, because a stream
 * outlives what existed when it began.
 */
export class Reach {
  readonly #environments: ReadonlySet<string> | null
  readonly #services: ReadonlySet<string> | null

  constructor({ environments, services }: Restrictions) {
    this.#environments = environments && new Set(environments)
    this.#services = services && new Set(services)
  }

  /** Whether whole environments are reached, with their datastores and with services that are yet to be created. */
  get holdsEnvironments(): boolean {
    return this.#services === null
  }

  /** Whether an environment is reached; by a caller restricted to services, one that contains such a service. */
  environment(id: string): boolean {
    if (this.#environments !== null && !this.#environments.has(id)) return false
    if (this.#services === null) return true
    return this.#servicesIn(id).length > 0
  }

  /** Whether a service is reached. */
  service(id: string): boolean {
    if (this.#services !== null && !this.#services.has(id)) return false
    const environment = environmentOf('services', id)
    return environment !== undefined && this.#isWithin(environment)
  }

  /** Whether a service is reached, by its name in an environment. */
  serviceNamed(name: string, environment: string): boolean {
    const found = useDatabase().get<{ id: string }>(
      `SELECT services.id FROM services JOIN environments ON environments.id = environment_id
       WHERE services.name = ? AND environments.name = ?`,
      name,
      environment,
    )
    return found !== undefined && this.service(found.id)
  }

  /** Whether a service is reached, by the name that is unique over all environments: `api` or `api.staging`. */
  serviceQualified(name: string): boolean {
    const [service, environment = PRODUCTION] = name.split('.')
    return this.serviceNamed(service!, environment)
  }

  /** Whether a datastore is reached. */
  datastore(id: string): boolean {
    if (!this.holdsEnvironments) return false
    const environment = environmentOf('datastores', id)
    return environment !== undefined && this.#isWithin(environment)
  }

  /** Whether an env group is reached: it is linked to a service that is. */
  envGroup(id: string): boolean {
    return useDatabase()
      .all<{ service_id: string }>('SELECT service_id FROM env_group_links WHERE group_id = ?', id)
      .some(({ service_id }) => this.service(service_id))
  }

  #isWithin(environment: string): boolean {
    return this.#environments === null || this.#environments.has(environment)
  }

  #servicesIn(environment: string): string[] {
    return useDatabase()
      .all<{ id: string }>('SELECT id FROM services WHERE environment_id = ?', environment)
      .map(({ id }) => id)
      .filter((id) => this.#services!.has(id))
  }
}

function environmentOf(table: 'services' | 'datastores', id: string): string | undefined {
  return useDatabase().get<{ environment_id: string }>(`SELECT environment_id FROM ${table} WHERE id = ?`, id)
    ?.environment_id
}
