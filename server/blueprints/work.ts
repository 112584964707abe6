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
import { placeIn } from './nodes.ts'
import type { Project, WantedDatastore, WantedGroup, WantedService, WantedVariable } from './project.ts'
import { wantedPatch, withDefaults } from './settings.ts'
import type { Standing } from './standing.ts'
import { mergeVariables, type MergedVariables, type VariablePolicy } from './variables.ts'
import { recordWritten } from './written.ts'

type Named = WantedGroup | WantedDatastore | WantedService

/** What is told of an operation that refused. */
type OnFault = (wanted: Named, error: unknown, variables: readonly WantedVariable[]) => void

/**
 * The writing of a project, in steps that each need the ones before: what refers to something comes after it. What is
 * so already is not written again.
 */
export class Work {
  readonly notes: string[] = []
  readonly madeEnvironments: string[] = []
  /** What becomes of the variables of each service and env group that names some. */
  readonly variables = new Map<WantedService | WantedGroup, MergedVariables>()
  /** Whether anything was written. */
  wrote = false
  readonly steps: readonly (() => void)[]
  /** Names the live services whose whole environment has become another one. */
  renewed: () => ServiceRow[] = () => []
  readonly #standing: Standing
  readonly #policy: VariablePolicy
  readonly #onFault: OnFault

  constructor(
    project: Project,
    standing: Standing,
    rounds: ReadonlyMap<WantedVariable, number>,
    policy: VariablePolicy,
    onFault: OnFault,
  ) {
    this.#standing = standing
    this.#policy = policy
    this.#onFault = onFault
    const { environments, groups, datastores, services } = project
    const last = Math.max(0, ...rounds.values())
    this.steps = [
      () => {
        for (const { name } of environments) this.#makeEnvironment(name)
      },
      () => {
        for (const group of groups) this.#attempt(group, () => this.#makeGroup(group))
        for (const datastore of datastores) this.#attempt(datastore, () => this.#makeDatastore(datastore))
        for (const service of services) this.#attempt(service, () => this.#makeService(service))
      },
      () => {
        this.renewed = this.#watch(services, groups)
      },
      ...Array.from({ length: last + 1 }, (_, round) => () => {
        for (const service of services)
          this.#attempt(service, () => this.#writeVariables(service, rounds, round), service.variables)
      }),
      () => {
        for (const group of groups)
          this.#attempt(group, () => this.#writeGroupVariables(group), group.variables)
      },
      () => {
        for (const service of services) this.#attempt(service, () => this.#link(service), service.variables)
      },
    ]
  }

  #watch(services: readonly WantedService[], groups: readonly WantedGroup[]): () => ServiceRow[] {
    const isWritten = (wanted: WantedService | WantedGroup) => this.variables.get(wanted)!.written.length > 0
    const own = services.filter(isWritten).map((wanted) => this.serviceOf(wanted).environment_id)
    const linked = groups.filter(isWritten).flatMap(({ name }) => environmentsOf(findEnvGroup(name)))
    return watchEnvironments([...new Set([...own, ...linked])])
  }

  #attempt(wanted: Named, work: () => void, variables: readonly WantedVariable[] = []): void {
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

  #makeGroup(group: WantedGroup): void {
    const there = this.#standing.groups.get(group.name)
    const merged = mergeVariables(there?.id ?? null, `env group ${group.name}`, group.variables, this.#policy)
    this.variables.set(group, merged)
    this.notes.push(...merged.notes)
    if (there) return
    createEnvGroup({ name: group.name, vars: [] })
    this.wrote = true
  }

  #makeDatastore(wanted: WantedDatastore): void {
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

  #makeService(wanted: WantedService): void {
    const { name, environment, type, variables } = wanted
    const there = this.#standing.service(environment, name)
    const merged = mergeVariables(there?.id ?? null, `service ${name}`, variables, this.#policy)
    this.variables.set(wanted, merged)
    this.notes.push(...merged.notes)
    const patch = wantedPatch(wanted, there)
    if (there) {
      if (patchService(there, ServicePatch.parse(patch)) !== there) this.wrote = true
      return
    }
    createService(
      ServiceInput.parse({ name, environment, ...(type ? { type } : {}), ...patch, deploy: false }),
    )
    this.wrote = true
  }

  /** Writes the variables whose round has come, once nothing that they refer to is missing. */
  #writeVariables(wanted: WantedService, rounds: ReadonlyMap<WantedVariable, number>, round: number): void {
    const { written, variables } = this.variables.get(wanted)!
    if (!written.some((each) => rounds.get(each.wanted) === round)) return
    const service = this.serviceOf(wanted)
    const later = new Set(
      written.filter((each) => rounds.get(each.wanted)! > round).map((each) => each.wanted.key),
    )
    const old = new Map(
      later.size > 0
        ? mergeVariables(service.id, '', [], this.#policy).variables.map(({ key, value }) => [key, value])
        : [],
    )
    const now = variables.flatMap(({ key, value }) => {
      const kept = later.has(key) ? old.get(key) : value
      return kept === undefined ? [] : [{ key, value: kept }]
    })
    patchService(service, { env: now })
    this.#record(
      service.id,
      written.filter((each) => rounds.get(each.wanted) === round),
    )
  }

  #writeGroupVariables(group: WantedGroup): void {
    const { written, variables } = this.variables.get(group)!
    if (written.length === 0) return
    const { id } = replaceGroupVariables(findEnvGroup(group.name), variables)
    this.#record(id, written)
  }

  #record(holder: string, written: MergedVariables['written']): void {
    for (const { wanted, value } of written)
      recordWritten(holder, wanted.key, value, wanted.from === 'generated')
    this.wrote = true
  }

  #link(wanted: WantedService): void {
    if (wanted.groups === undefined) return
    const service = this.serviceOf(wanted)
    const ids = [...new Set(wanted.groups.map((group) => findEnvGroup(group).id))]
    if (JSON.stringify(ids) === JSON.stringify(groupIdsOf(service.id))) return
    patchService(service, { env_groups: wanted.groups })
    this.wrote = true
  }

  /** The service that a file describes, which is there by now. */
  serviceOf({ name, environment }: WantedService): ServiceRow {
    return findService(name, environment)
  }
}
