import { createDatastore, patchDatastore } from '../datastores/operations.ts'
import { DatastoreInput, DatastorePatch } from '../datastores/schema.ts'
import { createEnvGroup, environmentsOf, replaceGroupVariables } from '../env-groups/operations.ts'
import { findEnvGroup, groupIdsOf } from '../env-groups/store.ts'
import { createEnvironment } from '../environments/operations.ts'
import { createService, findService, patchService } from '../services/operations.ts'
import { watchEnvironments } from '../services/restart.ts'
import { ServiceInput, ServicePatch } from '../services/schema.ts'
import type { ServiceRow } from '../services/store.ts'
import { FIXED_DATASTORE_FIELDS } from './compare.ts'
import { placeIn, type Node } from './nodes.ts'
import type { Project, WantedDatastore, WantedGroup, WantedService, WantedVariable } from './project.ts'
import type { Waiting } from './references.ts'
import { wantedPatch, withDefaults } from './settings.ts'
import type { Standing } from './standing.ts'
import { mergeVariables, type MergedVariables, type VariablePolicy } from './variables.ts'
import { recordWritten } from './written.ts'

/** What is told of an operation that refused: the part of the file, and the variables that it may be about. */
type OnFault = (wanted: { node: Node }, error: unknown, variables: readonly WantedVariable[]) => void

/**
 * The writing of a project, in steps that each need the ones before: what refers to something by its id comes after it.
 * Each thing is written once, and what is so already is not. Variables may lead anywhere until all is written.
 */
export class Work {
  readonly notes: string[] = []
  readonly madeEnvironments: string[] = []
  /** What becomes of the variables of each service and env group. */
  readonly variables = new Map<WantedService | WantedGroup, MergedVariables>()
  /** Whether anything was written. */
  wrote = false
  readonly steps: readonly (() => void)[]
  /** Names the live services whose whole environment has become another one. */
  readonly renewed: () => ServiceRow[]
  readonly #standing: Standing
  readonly #onFault: OnFault
  /** What was written, by id. */
  readonly #groups = new Map<string, WantedGroup>()
  readonly #services = new Map<string, WantedService>()

  constructor(
    project: Project,
    standing: Standing,
    waiting: Waiting,
    policy: VariablePolicy,
    onFault: OnFault,
  ) {
    this.#standing = standing
    this.#onFault = onFault
    const { environments, groups, datastores, services } = project
    for (const group of groups) {
      const id = standing.groups.get(group.name)?.id
      this.#merge(group, mergeVariables(id, `env group ${group.name}`, group.variables, waiting, policy))
    }
    for (const service of services) {
      const id = standing.service(service.environment, service.name)?.id
      this.#merge(service, mergeVariables(id, `service ${service.name}`, service.variables, waiting, policy))
    }
    this.renewed = watchEnvironments(this.#touched(project))
    this.steps = [
      () => {
        for (const wanted of environments) this.#attempt(wanted, () => this.#makeEnvironment(wanted.name))
      },
      () => {
        for (const group of groups) this.#attempt(group, () => this.#writeGroup(group), group.variables)
        for (const datastore of datastores) this.#attempt(datastore, () => this.#writeDatastore(datastore))
      },
      () => {
        for (const service of services)
          this.#attempt(service, () => this.#writeService(service), service.variables)
      },
    ]
  }

  /** Lays what keeps a service's variables from resolving to what the file says of them. */
  layUnresolved({ id }: ServiceRow, error: unknown): void {
    const groups = groupIdsOf(id).flatMap((group) => this.#groups.get(group) ?? [])
    const service = this.#services.get(id)
    const holders = service ? [...groups, service] : groups
    this.#onFault(
      holders.at(-1)!,
      error,
      holders.flatMap(({ variables }) => variables),
    )
  }

  /** The service that a file describes, which is there by now. */
  serviceOf({ name, environment }: WantedService): ServiceRow {
    return findService(name, environment)
  }

  #merge(wanted: WantedService | WantedGroup, merged: MergedVariables): void {
    this.variables.set(wanted, merged)
    this.notes.push(...merged.notes)
  }

  /** The environments in which variables are written that running services may have. */
  #touched({ services, groups }: Project): string[] {
    const isWritten = (wanted: WantedService | WantedGroup) => this.variables.get(wanted)!.written.length > 0
    const own = services
      .filter(isWritten)
      .flatMap(({ environment, name }) => this.#standing.service(environment, name)?.environment_id ?? [])
    const linked = groups.filter(isWritten).flatMap(({ name }) => {
      const there = this.#standing.groups.get(name)
      return there ? environmentsOf(there) : []
    })
    return [...new Set([...own, ...linked])]
  }

  #attempt(wanted: { node: Node }, work: () => void, variables: readonly WantedVariable[] = []): void {
    try {
      work()
    } catch (error) {
      this.#onFault(wanted, error, variables)
    }
  }

  #makeEnvironment(name: string): void {
    if (this.#standing.environments.has(name) || this.madeEnvironments.includes(name)) return
    createEnvironment({ name })
    this.wrote = true
    this.madeEnvironments.push(name)
  }

  #writeGroup(group: WantedGroup): void {
    const { name } = group
    const { written, variables } = this.variables.get(group)!
    const there = this.#standing.groups.get(name)
    if (there && written.length === 0) return
    const { id } = there ? replaceGroupVariables(there, variables) : createEnvGroup({ name, vars: variables })
    this.wrote = true
    this.#groups.set(id, group)
    this.#record(id, written)
  }

  #writeDatastore(wanted: WantedDatastore): void {
    const { name, kind, environment, node } = wanted
    const there = this.#standing.datastore(environment, name)
    const fields = withDefaults(wanted.fields)
    const fixed = FIXED_DATASTORE_FIELDS.filter((field) => typeof fields[field] === 'string')
    if (!there) {
      for (const field of FIXED_DATASTORE_FIELDS) if (!fixed.includes(field)) delete fields[field]
      createDatastore(DatastoreInput.parse({ name, kind, environment, ...fields }))
      this.wrote = true
      return
    }
    for (const field of fixed)
      if (fields[field] !== there[field])
        this.notes.push(
          `line ${placeIn(node, [field]).line}: datastore ${name} keeps its ${field} ${there[field]}${field === 'version' ? ': upgrade it by itself' : ', which cannot be changed'}`,
        )
    const patch = Object.fromEntries(Object.keys(DatastorePatch.shape).map((field) => [field, fields[field]]))
    if (patchDatastore(there, DatastorePatch.parse(patch)) !== there) this.wrote = true
  }

  #writeService(wanted: WantedService): void {
    const { name, environment, type, groups } = wanted
    const there = this.#standing.service(environment, name)
    const { written, variables } = this.variables.get(wanted)!
    const settings = wantedPatch(wanted, there)
    const env = written.length > 0 ? { env: variables } : {}
    const env_groups = groups && !(there && areLinked(there, groups)) ? { env_groups: groups } : {}
    const now = there
      ? patchService(there, { ...ServicePatch.parse(settings), ...env, ...env_groups })
      : createService({
          ...ServiceInput.parse({ name, environment, ...(type ? { type } : {}), ...settings, deploy: false }),
          ...env,
          ...env_groups,
        })
    if (now !== there) this.wrote = true
    this.#services.set(now.id, wanted)
    this.#record(now.id, written)
  }

  #record(holder: string, written: MergedVariables['written']): void {
    for (const { wanted, value } of written)
      recordWritten(holder, wanted.key, value, wanted.from === 'generated')
  }
}

/** Whether a service is linked to these groups, by name or id, in this order, and to no others. */
function areLinked({ id }: ServiceRow, groups: readonly string[]): boolean {
  const wanted = new Set(groups.map((group) => findEnvGroup(group).id))
  return [...wanted].join() === groupIdsOf(id).join()
}
