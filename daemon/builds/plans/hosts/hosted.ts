import type { Tree } from '../../../sources/tree.ts'
import { isPackageName } from '../apt.ts'
import { installationVariables, withoutInstallation } from '../installation.ts'
import type { LanguagePlan, PlannedVariable, PlanSettings } from '../plan.ts'
import { processTypes } from '../procfile.ts'
import { fly } from './fly.ts'
import { heroku } from './heroku.ts'
import { OWN_COMMANDS, type HostFile } from './host-file.ts'
import { nixpacks } from './nixpacks.ts'
import { railpack } from './railpack.ts'
import { railway } from './railway.ts'

/** In the order of their precedence. The first ones override a Procfile where they are at home. */
const BEFORE_PROCFILE = [railway, railpack, nixpacks]
const AFTER_PROCFILE = [heroku, fly]

/** What files that are written for other hosts say of a tree. */
export interface Hosted {
  /** The service's own, and where they say nothing, those of the files; the build command alone is told apart. */
  settings: PlanSettings
  /** What builds, with `OWN_COMMANDS` for what is found; null where the service says it, or nobody. */
  build: string[] | null
  /** The file that says so. */
  buildFile: string | null
  preDeployCommand: string | null
  healthCheckPath: string | null
  port: number | null
  dockerfile: string | null
  /** Of the build and the program. */
  variables: Record<string, string>
  /** Those that have to be set. */
  env: PlannedVariable[]
  notes: string[]
}

/**
 * Reads the files in which a tree says how other hosts build and start it. `plan` is null for one
 * that is built by a Dockerfile of its own: some of them speak of that image alone, and builders say nothing of it.
 */
export async function readHosted(
  tree: Tree,
  settings: PlanSettings,
  plan: LanguagePlan | null,
): Promise<Hosted> {
  const notes: string[] = []
  const types = await processTypes(tree)
  const before = await readAll(plan === null ? [railway] : BEFORE_PROCFILE)
  const after = (await readAll(AFTER_PROCFILE)).filter((file) => plan === null || !file.isOfImage)
  const files = [...before, ...after]
  const start = settings.startCommand === null ? await startOf() : null
  if (start !== null) notes.push(`starting as ${start.file} says: ${start.command}`)
  const releasing = types.has('release') ? before : files
  const release = releasing.find(({ preDeploy }) => preDeploy !== null)
  if (release !== undefined && settings.preDeployCommand === null)
    notes.push(`before it goes live, as ${release.file} says: ${release.preDeploy}`)
  const builder = settings.buildCommand === null ? files.find(({ build }) => build !== null) : undefined
  const packages = files.flatMap(({ aptPackages }) => aptPackages).filter(isPackageName)
  const variables = Object.assign({}, ...files.toReversed().map((file) => file.variables)) as object
  return {
    settings: {
      ...settings,
      startCommand: settings.startCommand ?? start?.command ?? null,
      preDeployCommand: settings.preDeployCommand ?? release?.preDeploy ?? null,
      aptPackages: [...new Set([...settings.aptPackages, ...packages])],
    },
    build: builder?.build ?? null,
    buildFile: builder?.file ?? null,
    preDeployCommand: release?.preDeploy ?? null,
    healthCheckPath: first(({ healthCheckPath }) => healthCheckPath),
    port: first(({ port }) => port),
    dockerfile: first(({ dockerfile }) => dockerfile),
    variables: {
      ...variables,
      ...installationVariables([settings.buildCommand, ...(builder?.build ?? [])]),
    },
    env: files.flatMap(({ file, wanted }) =>
      wanted.map((key) => ({ key, generate: null, why: `${file} sets it for its own host` })),
    ),
    notes: [...notes, ...files.flatMap((file) => file.notes)],
  }

  async function readAll(readers: typeof BEFORE_PROCFILE): Promise<HostFile[]> {
    const found: HostFile[] = []
    for (const read of readers) found.push(...((await read(tree, notes)) ?? []))
    return found
  }

  function first<T>(value: (file: HostFile) => T | null): T | null {
    return files.map(value).find((each) => each !== null) ?? null
  }

  /** A Procfile has a line for a worker where the one command of these files is that of the web. */
  async function startOf(): Promise<{ file: string; command: string } | null> {
    const { processType } = settings
    if (processType === 'static') return null
    const hasLine = types.has(processType)
    const candidates = !hasLine ? files : processType === 'worker' ? [] : before
    for (const { file, starts } of candidates) {
      const command = starts[processType]
      if (command === undefined) continue
      return (await plan?.takesStart?.(tree, command)) === false ? null : { file, command }
    }
    return null
  }
}

/** The script that is run anyway. */
const OWN_SCRIPT = /^(?:npm|pnpm|yarn|bun)(?: run)? build$/

/** A command that leaves the folder as it is, and fails where a part of it does. */
function isPlain(command: string): boolean {
  return !/\b(?:cd|pushd|set|exec|exit)\s|[|;]|(?:^|[^&])&(?:$|[^&])/.test(command)
}

/**
 * One command of what a file says and what is found, without what a plan does itself; null where that is all. Each runs in the
 * root, wherever the one before it went.
 */
export function composed(build: readonly string[], own: string | null): string | null {
  const commands = build.flatMap((command) =>
    command !== OWN_COMMANDS ? [command] : own === null ? [] : [own],
  )
  const parts =
    commands.length === 1 ? commands : commands.map((each) => (isPlain(each) ? each : `(${each})`))
  const command = withoutInstallation(parts.join(' && '))
  return command === null || command === '' || OWN_SCRIPT.test(command) ? null : command
}
