import {
  found,
  HAS_PORT,
  hasBadValue,
  hasFault,
  INVALID,
  judged,
  listed,
  placeOf,
  Refusal,
  refuse,
  UNKNOWN,
  type Kept,
  type Place,
  type Service,
  type Variable,
  type Variables,
} from './model-rules.ts'

const OK = 200
const CREATED = 201
const GONE = 204
const CONFLICT = 409

const NAME = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/
const REFERENCE = /\$\{\{(?:service\.([\w-]+)\.(host|env\.(\w+)))?/g

/**
 * What the API should contain, as plainly as it can be said: names and their contents, without ids, transactions, order of
 * events or an engine. Each method returns the status of its request and changes nothing unless that is a success.
 */
export class Model {
  environments: Set<string>
  groups: Map<string, Variables>
  domains: Set<string>
  /** By `environment/name`. */
  services: Map<string, Kept>

  constructor({ environments, groups, domains, services }: Partial<Model> = {}) {
    this.environments = new Set(environments ?? ['production'])
    this.domains = new Set(domains ?? ['localhost'])
    this.groups = new Map(Array.from(groups ?? [], ([name, variables]) => [name, new Map(variables)]))
    this.services = new Map(structuredClone([...(services ?? [])]))
  }

  /** Runs a change; a refused one leaves the model as it was. */
  #change(success: number, change: (next: Model) => void): number {
    const next = new Model(this)
    try {
      change(next)
    } catch (error) {
      if (error instanceof Refusal) return error.status
      throw error
    }
    Object.assign(this, next)
    return success
  }

  makeEnvironment(name: string): number {
    return this.#change(CREATED, (next) => {
      refuse(INVALID, !NAME.test(name))
      refuse(CONFLICT, next.environments.has(name))
      refuse(
        CONFLICT,
        [...next.domains].some((domain) => next.domains.has(`${name}.${domain}`)),
      )
      next.environments.add(name)
    })
  }

  dropEnvironment(name: string): number {
    return this.#change(GONE, (next) => {
      refuse(UNKNOWN, !next.environments.has(name))
      refuse(CONFLICT, name === 'production')
      refuse(
        CONFLICT,
        [...next.services.keys()].some((place) => place.startsWith(`${name}/`)),
      )
      next.environments.delete(name)
    })
  }

  makeDomain(name: string): number {
    return this.#change(CREATED, (next) => {
      refuse(INVALID, name.startsWith('*'))
      refuse(CONFLICT, next.domains.has(name))
      const [first, ...rest] = name.split('.')
      const parent = rest.join('.')
      refuse(CONFLICT, next.domains.has(parent) && next.environments.has(first!))
      const below = [...next.domains].filter((domain) => domain.endsWith(`.${name}`))
      refuse(
        CONFLICT,
        below.some((domain) => next.environments.has(domain.slice(0, -name.length - 1))),
      )
      next.domains.add(name)
    })
  }

  dropDomain(name: string): number {
    return this.#change(GONE, (next) => {
      refuse(UNKNOWN, !next.domains.has(name))
      refuse(CONFLICT, name === 'localhost')
      next.domains.delete(name)
    })
  }

  makeGroup(name: string, given: Variable[]): number {
    return this.#change(CREATED, (next) => {
      refuse(INVALID, !NAME.test(name))
      const variables = listed(given)
      refuse(CONFLICT, next.groups.has(name))
      next.groups.set(name, variables)
    })
  }

  dropGroup(name: string, force: boolean): number {
    return this.#change(GONE, (next) => {
      refuse(UNKNOWN, !next.groups.has(name))
      const linked = [...next.services.values()].filter(({ groups }) => groups.includes(name))
      refuse(CONFLICT, linked.length > 0 && !force)
      for (const service of linked) service.groups = service.groups.filter((group) => group !== name)
      next.groups.delete(name)
    })
  }

  changeGroup(name: string, changed: (old: Variables) => Variables): number {
    return this.#change(OK, (next) => {
      judged(changed)
      const old = found(next.groups.get(name))
      next.groups.set(name, changed(old))
      for (const [place, { groups }] of next.services) if (groups.includes(name)) next.#resolve(place)
    })
  }

  makeService(at: Place, fields: Partial<Service>, given: Variable[]): number {
    return this.#change(CREATED, (next) => {
      const whole: Service = { ...DEFAULTS, ...fields, birth: (births += 1) }
      refuse(INVALID, !NAME.test(at.name) || hasFault(whole))
      const variables = listed(given)
      refuse(UNKNOWN, !next.environments.has(at.environment))
      refuse(CONFLICT, next.services.has(placeOf(at)))
      next.services.set(placeOf(at), { fields: whole, variables, groups: [] })
      next.#claimHosts(placeOf(at))
      next.#resolve(placeOf(at))
    })
  }

  changeService(at: Place, fields: Partial<Service>): number {
    return this.#change(OK, (next) => {
      refuse(INVALID, hasBadValue(fields))
      const service = next.#find(at)
      Object.assign(service.fields, fields)
      refuse(INVALID, hasFault(service.fields))
      next.#claimHosts(placeOf(at))
    })
  }

  renameService(at: Place, name: string): number {
    return this.#change(OK, (next) => {
      refuse(INVALID, !NAME.test(name))
      const service = next.#find(at)
      if (name === at.name) return
      const to = placeOf({ ...at, name })
      refuse(CONFLICT, next.services.has(to) || next.#isReferredTo(at))
      next.services.delete(placeOf(at))
      next.services.set(to, service)
    })
  }

  dropService(at: Place, force: boolean): number {
    return this.#change(GONE, (next) => {
      next.#find(at)
      refuse(CONFLICT, !force && next.#isReferredTo(at))
      next.services.delete(placeOf(at))
    })
  }

  changeVariables(at: Place, changed: (old: Variables) => Variables): number {
    return this.#change(OK, (next) => {
      judged(changed)
      const service = next.#find(at)
      service.variables = changed(service.variables)
      next.#resolve(placeOf(at))
    })
  }

  link(at: Place, group: string): number {
    return this.#change(OK, (next) => {
      const { groups } = next.#find(at)
      found(next.groups.get(group))
      if (groups.includes(group)) return
      groups.push(group)
      next.#resolve(placeOf(at))
    })
  }

  unlink(at: Place, group: string): number {
    return this.#change(OK, (next) => {
      const service = next.#find(at)
      refuse(UNKNOWN, !next.groups.has(group) || !service.groups.includes(group))
      service.groups = service.groups.filter((name) => name !== group)
    })
  }

  #find(at: Place): Kept {
    return found(this.services.get(placeOf(at)))
  }

  /** What a service's containers would get: its own variables before its groups', a later group before an earlier one. */
  #effective({ variables, groups }: Kept): Variables {
    return new Map([...groups.flatMap((name) => [...this.groups.get(name)!]), ...variables])
  }

  /** Refuses a service whose variables refer to something missing, to itself, or in a circle. */
  #resolve(place: string): void {
    const environment = place.split('/')[0]!
    const walk = (from: string, value: string, way: readonly string[]): void => {
      for (const [, name, property, key] of value.matchAll(REFERENCE)) {
        const to = `${environment}/${name}`
        const target = name === undefined ? undefined : this.services.get(to)
        refuse(INVALID, target === undefined || to === from)
        if (property === 'host') refuse(INVALID, !HAS_PORT.includes(target!.fields.type))
        if (key === undefined) continue
        const next = target!.variables.get(key)
        refuse(INVALID, next === undefined || way.includes(`${to} ${key}`))
        walk(to, next!, [...way, `${to} ${key}`])
      }
    }
    for (const [key, value] of this.#effective(this.services.get(place)!))
      walk(place, value, [`${place} ${key}`])
  }

  #isReferredTo({ environment, name }: Place): boolean {
    return [...this.services].some(([place, service]) => {
      if (!place.startsWith(`${environment}/`)) return false
      return [...this.#effective(service).values()].some((value) => value.includes(`{{service.${name}.`))
    })
  }

  /** Refuses custom domains that another service has. */
  #claimHosts(place: string): void {
    const { custom_domains: wanted } = this.services.get(place)!.fields
    const others = [...this.services].filter(([other]) => other !== place)
    const taken = others.flatMap(([, { fields }]) => fields.custom_domains)
    refuse(
      CONFLICT,
      wanted.some((host) => taken.includes(host)),
    )
  }
}

let births = 0
const DEFAULTS: Omit<Service, 'birth'> = {
  type: 'web_service',
  port: null,
  schedule: null,
  instances: 1,
  disk_mount_path: null,
  memory_limit_mb: 0,
  start_command: null,
  suspended: false,
  custom_domains: [],
}
