import { createDatastore, patchDatastore } from '../datastores/operations.ts'
import { DatastoreInput, DatastorePatch } from '../datastores/schema.ts'
import { createEnvGroup, environmentsOf, replaceGroupVariables } from '../env-groups/operations.ts'
import { findEnvGroup, groupIdsOf, type EnvGroupRow } from '../env-groups/store.ts'
import type { PasswordHashes } from '../edge/passwords.ts'
import { createEnvironment } from '../environments/operations.ts'
import type { AppError } from '../errors.ts'
import { validate } from '../http/validate.ts'
import { writeSecretFiles } from '../secret-files/operations.ts'
import { createService, findService, patchService } from '../services/operations.ts'
import { watchEnvironments } from '../services/restart.ts'
import { ServiceInput, ServicePatch } from '../services/input.ts'
import type { ServiceRow } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { ReferenceFault } from '../variables/references.ts'
import { FIXED_DATASTORE_FIELDS } from './compare.ts'
import type { Faults } from './faults.ts'
import { mergeFiles, recordFiles, type MergedFiles } from './files.ts'
import { keptNode, otherNode } from './kept-nodes.ts'
import { placeIn, type Node } from './nodes.ts'
import { unsetPasswords } from './passwords.ts'
import {
  UNNAMED,
  type Project,
  type WantedDatastore,
  type WantedGroup,
  type WantedService,
  type WantedVariable,
} from './project.ts'
import type { Waiting } from './references.ts'
import { reportRefusal } from './refusal.ts'
import { withDefaults } from './defaults.ts'
import { wantedPatch } from './settings.ts'
import type { Standing } from './standing.ts'
import { nextTrial, type ServiceTrial } from './trial.ts'
import { mergeVariables, ownUrl, type MergedVariables, type VariablePolicy } from './variables.ts'
import { recordWritten } from './written.ts'

/** Per file; each takes as long as creating a service. If a file has more faults, the rest appear when these are fixed. */
const MAX_RETRIALS = 200

export interface ApplyOptions extends VariablePolicy {
  dryRun: boolean
  /** Those of the passwords in the file. */
  hashes?: PasswordHashes
}

/**
 * Writes a project in steps, each of which needs those before: what refers to something by its id comes after it. Everything
 * is written once, and only if it differs. Variables may have dangling references until everything is written. Faulty parts
 * are left out, so that the others are still checked.
 */
export class Work {
  readonly notes: string[] = []
  readonly madeEnvironments: string[] = []
  /** The merged variables of each service and env group. */
  readonly variables = new Map<WantedService | WantedGroup, MergedVariables>()
  /** The secret files of each that are written. */
  readonly files = new Map<WantedService | WantedGroup, MergedFiles>()
  /** Whether anything was written. */
  wrote = false
  /** Returns the live services whose resolved variables or secret files have changed. */
  readonly renewed: () => ServiceRow[]
  readonly #project: Project
  readonly #standing: Standing
  readonly #faults: Faults
  readonly #dryRun: boolean
  readonly #hashes: PasswordHashes | undefined
  #retrials = 0
  /** Names of what is left out: references to them are not reported as faults. */
  readonly #leftOut: Set<string>
  readonly #missingEnvironments = new Set([UNNAMED])
  /** The groups and services that were written, by id. */
  readonly #groups = new Map<string, WantedGroup>()
  readonly #services = new Map<string, WantedService>()

  constructor(project: Project, standing: Standing, waiting: Waiting, options: ApplyOptions, faults: Faults) {
    this.#project = project
    this.#standing = standing
    this.#faults = faults
    this.#dryRun = options.dryRun
    this.#hashes = options.hashes
    this.#leftOut = new Set(project.unread)
    for (const group of project.groups) {
      const id = standing.groups.get(group.name)?.id
      const holder = { id, label: `env group ${group.name}`, url: null }
      const variables = mergeVariables(holder, group.variables, waiting, options)
      this.#merge(group, variables, mergeFiles(holder, group.files, options))
    }
    for (const service of project.services) {
      const there = standing.service(service.environment, service.name)
      this.notes.push(...unsetPasswords(service, there), ...otherNode('service', service, keptNode(there)))
      const holder = { id: there?.id, label: `service ${service.name}`, url: ownUrl(service, standing) }
      const variables = mergeVariables(holder, service.variables, waiting, options)
      this.#merge(service, variables, mergeFiles(holder, service.files, options))
    }
    this.renewed = options.dryRun ? () => [] : watchEnvironments(this.#touched(project))
  }

  /** Writes the valid parts. What an operation refuses is reported at its place. */
  write(): void {
    const { environments, groups, datastores, services } = this.#project
    for (const { name, node } of environments) {
      try {
        this.#makeEnvironment(name)
      } catch (error) {
        reportRefusal(this.#faults, { node }, error, [])
        this.#missingEnvironments.add(name)
      }
    }
    for (const group of groups) this.#attempt(group, () => this.#writeGroup(group), group.variables)
    for (const datastore of datastores) this.#attempt(datastore, () => this.#writeDatastore(datastore))
    for (const service of services) this.#attemptService(service)
  }

  /** Reports why a variable of a service cannot be resolved, at the place in the file that sets it. */
  reportUnresolved({ id }: ServiceRow, error: AppError): void {
    const { cause } = error
    if (cause instanceof ReferenceFault && cause.missing !== null && this.#leftOut.has(cause.missing)) return
    const groups = groupIdsOf(id).flatMap((group) => this.#groups.get(group) ?? [])
    const service = this.#services.get(id)
    const holders = service ? [...groups, service] : groups
    const variables = holders.flatMap((holder) => holder.variables)
    reportRefusal(this.#faults, holders.at(-1)!, error, variables)
  }

  /** The service that a file describes, which exists by now. */
  serviceOf({ name, environment }: WantedService): ServiceRow {
    return findService(name, environment)
  }

  #merge(wanted: WantedService | WantedGroup, variables: MergedVariables, files: MergedFiles): void {
    this.variables.set(wanted, variables)
    this.files.set(wanted, files)
    this.notes.push(...variables.notes, ...files.notes)
  }

  /** The environments in which variables or files that running services may have are written. */
  #touched({ services, groups }: Project): string[] {
    const isWritten = (wanted: WantedService | WantedGroup) =>
      this.variables.get(wanted)!.written.length > 0 || this.files.get(wanted)!.written.length > 0
    const own = services
      .filter(isWritten)
      .flatMap(({ environment, name }) => this.#standing.service(environment, name)?.environment_id ?? [])
    const linked = groups.filter(isWritten).flatMap(({ name }) => {
      const there = this.#standing.groups.get(name)
      return there ? environmentsOf(there) : []
    })
    return [...new Set([...own, ...linked])]
  }

  /** Whether something can be tried: it has no known fault, and its environment exists. */
  #isValid({ node, environment }: { node: Node; environment?: string }): boolean {
    const isPlaced = environment === undefined || !this.#missingEnvironments.has(environment)
    return isPlaced && !this.#faults.concern(node.place.path)
  }

  #attempt(
    wanted: WantedGroup | WantedDatastore,
    work: () => void,
    variables: readonly WantedVariable[] = [],
  ): void {
    if (!this.#isValid(wanted)) this.#leftOut.add(wanted.name)
    else {
      try {
        work()
      } catch (error) {
        this.#leftOut.add(wanted.name)
        reportRefusal(this.#faults, wanted, error, variables)
      }
    }
  }

  #attemptService(wanted: WantedService): void {
    const isValid = this.#isValid(wanted)
    if (!isValid) this.#leftOut.add(wanted.name)
    const trial = isValid
      ? { ...wanted, ...this.variables.get(wanted)!, without: [] }
      : this.#hostsTrial(wanted)
    if (trial) this.#tryService(wanted, trial)
  }

  /** Tries to write a service, again and again without what was refused, until all its faults are known. */
  #tryService(wanted: WantedService, trial: ServiceTrial): void {
    try {
      this.#writeService(wanted, trial)
    } catch (error) {
      this.#leftOut.add(wanted.name)
      const refused = reportRefusal(this.#faults, wanted, error, wanted.variables, trial.without)
      const next = nextTrial(trial, refused)
      if (next && this.#retrials++ < MAX_RETRIALS) this.#tryService(wanted, next)
    }
  }

  /** For a faulty service, a trial of only its hosts, which only the operations can check. */
  #hostsTrial({ name, environment, type = 'web_service', fields }: WantedService): ServiceTrial | null {
    if (name === UNNAMED || this.#missingEnvironments.has(environment) || !TYPES[type].hasHosts) return null
    const { custom_domains = [] } = fields
    return { fields: { custom_domains }, groups: undefined, written: [], variables: [], without: [] }
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
    const files = this.files.get(group)!
    if (there && written.length === 0 && files.written.length === 0) return
    const now = !there
      ? createEnvGroup({ name, vars: variables })
      : written.length > 0
        ? replaceGroupVariables(there, variables)
        : there
    this.#groups.set(now.id, group)
    this.#writeFiles(now, files)
    this.wrote = true
    this.#record(now.id, written)
  }

  #writeFiles(holder: ServiceRow | EnvGroupRow, merged: MergedFiles): void {
    if (merged.written.length === 0) return
    const files = merged.written.map(({ file }) => file)
    writeSecretFiles(holder, files, 'secret_files')
    this.wrote = true
    if (!this.#dryRun) recordFiles(holder.id, merged)
  }

  #writeDatastore(wanted: WantedDatastore): void {
    const { name, kind, environment, node } = wanted
    const there = this.#standing.datastore(environment, name)
    const fields = withDefaults(wanted.fields)
    const fixed = FIXED_DATASTORE_FIELDS.filter((field) => typeof fields[field] === 'string')
    if (!there) {
      for (const field of [...FIXED_DATASTORE_FIELDS, 'node'])
        if (typeof fields[field] !== 'string') delete fields[field]
      createDatastore(DatastoreInput.parse({ name, kind, environment, ...fields }))
      this.wrote = true
      return
    }
    for (const field of fixed)
      if (fields[field] !== there[field])
        this.notes.push(
          `line ${placeIn(node, [field]).line}: datastore ${name} keeps its ${field} ${there[field]}${field === 'version' ? ': upgrade it separately' : ', which cannot be changed'}`,
        )
    this.notes.push(...otherNode('datastore', wanted, there.node_id))
    const patch = Object.fromEntries(Object.keys(DatastorePatch.shape).map((field) => [field, fields[field]]))
    if (patchDatastore(there, DatastorePatch.parse(patch)) !== there) this.wrote = true
  }

  #writeService(wanted: WantedService, { fields, written, variables, ...trial }: ServiceTrial): void {
    const { name, environment, type } = wanted
    const there = this.#standing.service(environment, name)
    const groups = trial.groups?.filter((group) => !this.#leftOut.has(group))
    const settings = wantedPatch(fields, there)
    const env = written.length > 0 ? { env: variables } : {}
    const env_groups = groups && !(there && areLinked(there, groups)) ? { env_groups: groups } : {}
    const made = { name, environment, ...(type ? { type } : {}), ...settings, deploy: false }
    const now = there
      ? patchService(there, { ...validate(ServicePatch, settings, 1), ...env, ...env_groups }, this.#hashes)
      : createService({ ...validate(ServiceInput, made, 1), ...env, ...env_groups }, this.#hashes)
    if (now !== there) this.wrote = true
    this.#services.set(now.id, wanted)
    this.#writeFiles(now, this.files.get(wanted)!)
    this.#record(now.id, written)
  }

  #record(holder: string, written: MergedVariables['written']): void {
    if (this.#dryRun) return
    for (const { wanted, value } of written)
      recordWritten(holder, wanted.key, value, wanted.from === 'generated')
  }
}

/** Whether a service is linked to these groups, by name or id, in this order, and to no others. */
function areLinked({ id }: ServiceRow, groups: readonly string[]): boolean {
  const wanted = new Set(groups.map((group) => findEnvGroup(group).id))
  return [...wanted].join() === groupIdsOf(id).join()
}
