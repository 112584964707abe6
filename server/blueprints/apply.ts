import { announcingAtEnd } from '../changes.ts'
import { useDatabase } from '../context.ts'
import type { Deploy } from '../deploys/schema.ts'
import { getDeploy } from '../deploys/store.ts'
import { viewDeploy } from '../deploys/view.ts'
import { changedPasswords } from '../edge/columns.ts'
import { settlingAtEnd } from '../variables/environment.ts'
import { readSealed } from '../variables/store.ts'
import { checkProject } from './check.ts'
import { changeBetween, DATASTORE_FIELDS, SERVICE_FIELDS } from './compare.ts'
import { queueDeploys } from './deploys.ts'
import { Faults } from './faults.ts'
import type { Project, WantedService } from './project.ts'
import type { ReadFile } from './read.ts'
import { followVariables, type Waiting } from './references.ts'
import type { BlueprintAction, BlueprintResult } from './schema.ts'
import { settingsOf, Standing, type ServiceSettings } from './standing.ts'
import { Work, type ApplyOptions } from './work.ts'

/** The result of an apply, with the names of the environments that it created. */
export interface Applied extends BlueprintResult {
  madeEnvironments: string[]
}

/** Rolls back the transaction of a dry run and carries its result out of it. */
class DryRunRollback extends Error {
  readonly applied: Applied

  constructor(applied: Applied) {
    super('a dry run is rolled back')
    this.applied = applied
  }
}

/**
 * Applies a project, all of it or nothing, in one transaction and through the operations that the API's own endpoints use;
 * what others refer to comes first. A dry run does the same and rolls it back. So does a file with faults: its valid parts
 * are tried too, to find the faults that only the operations find. Throws `invalid_request` with every fault.
 */
export function applyFile(file: ReadFile, options: ApplyOptions): Applied {
  const faults = new Faults(file.faults)
  const standing = new Standing()
  checkProject(file.project, standing, faults)
  const waiting = followVariables(file.project, isSetIn(standing), faults)
  try {
    return announcingAtEnd(() =>
      useDatabase().transaction(() => {
        const applied = run(file, standing, waiting, options, faults)
        if (options.dryRun) throw new DryRunRollback(applied)
        return applied
      }),
    )
  } catch (error) {
    if (error instanceof DryRunRollback) return error.applied
    throw error
  }
}

function run(
  { project, warnings }: ReadFile,
  standing: Standing,
  waiting: Waiting,
  options: ApplyOptions,
  faults: Faults,
): Applied {
  const before = settingsOf(project, standing)
  const work = new Work(project, standing, waiting, options, faults)
  settlingAtEnd(
    () => work.write(),
    (service, error) => work.reportUnresolved(service, error),
  )
  faults.refuse()
  const now = work.wrote ? new Standing() : standing
  const after = work.wrote ? settingsOf(project, now) : before
  const actions = actionsOf(project, work, { standing, settings: before }, { standing: now, settings: after })
  const { deploys, notes } = options.dryRun ? NO_DEPLOYS : queueDeploys(project, work, actions)
  return {
    actions,
    deploys: deploys.map((id): Deploy => viewDeploy(getDeploy(id)!)),
    dry_run: options.dryRun,
    warnings: [...warnings, ...work.notes, ...notes],
    madeEnvironments: work.madeEnvironments,
  }
}

/** Returns a function that says whether an existing service has a variable of its own. */
function isSetIn(standing: Standing): (service: WantedService, key: string) => boolean {
  return ({ environment, name }, key) => {
    const there = standing.service(environment, name)
    return there !== undefined && readSealed(there.id).some((variable) => variable.key === key)
  }
}

/** Adds the passwords that differ, which no view of a service shows. */
function withPasswords(
  { action, changes }: Pick<BlueprintAction, 'action' | 'changes'>,
  { environment, name }: WantedService,
  before: State,
  after: State,
): Pick<BlueprintAction, 'action' | 'changes'> {
  const [old, now] = [before, after].map(
    ({ standing }) => standing.service(environment, name)?.basic_auth ?? null,
  )
  const users = changedPasswords(old!, now!)
  if (users.length === 0) return { action, changes }
  const changed = users.map((username) => `basic_auth.${username}: password changed`)
  return { action: 'update', changes: [...changes, ...changed] }
}

const NO_DEPLOYS = { deploys: [], notes: [] }

/** What exists at one moment. */
interface State {
  standing: Standing
  settings: ReadonlyMap<WantedService, ServiceSettings>
}

function actionsOf(project: Project, work: Work, before: State, after: State): BlueprintAction[] {
  const environments = [...new Set(project.environments.map(({ name }) => name))]
  return [
    ...environments.map((name): BlueprintAction => ({
      resource: 'environment',
      name,
      action: work.madeEnvironments.includes(name) ? 'create' : 'unchanged',
      changes: [],
    })),
    ...project.groups.map((wanted): BlueprintAction => {
      const { name } = wanted
      const there = before.standing.groups.has(name) ? {} : undefined
      const change = changeBetween(there, {}, [], work.variables.get(wanted), work.files.get(wanted))
      return { resource: 'env_group', name, ...change }
    }),
    ...project.datastores.map(({ name, environment }): BlueprintAction => {
      const now = after.standing.datastore(environment, name)!
      const there = before.standing.datastore(environment, name)
      const fields = there ? DATASTORE_FIELDS : (['kind', 'version', ...DATASTORE_FIELDS] as const)
      return { resource: 'datastore', name, ...changeBetween(there, now, fields, undefined, undefined) }
    }),
    ...project.services.map((wanted): BlueprintAction => {
      const [there, now] = [before, after].map(({ settings }) => settings.get(wanted))
      const [variables, files] = [work.variables.get(wanted), work.files.get(wanted)]
      const change = changeBetween(there, now!, SERVICE_FIELDS, variables, files)
      return { resource: 'service', name: wanted.name, ...withPasswords(change, wanted, before, after) }
    }),
  ]
}
