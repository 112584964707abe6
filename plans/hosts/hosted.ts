import { installationVariables } from '../installation.ts'
import type { PlannedBuild, PlannedVariable, PlanSettings } from '../plan.ts'
import { processTypes } from '../procfile.ts'
import type { Tree } from '../source/tree.ts'
import { caprover } from './caprover.ts'
import { buildIn, releaseIn, startIn, type HostCommand, type PlanWithoutHost } from './commands.ts'
import { fly } from './fly.ts'
import { heroku } from './heroku.ts'
import type { HostFile } from './host-file.ts'
import { scriptsOf } from './managers.ts'
import { nixpacks } from './nixpacks.ts'
import { isKnownPackage } from './packages.ts'
import { railpack } from './railpack.ts'
import { railway } from './railway.ts'

/** In order of precedence. The first ones override a Procfile on their own hosts. */
const BEFORE_PROCFILE = [railway, railpack, nixpacks]
const AFTER_PROCFILE = [heroku, caprover, fly]

/** Returns the note that a start command of a file is used. */
export function startNote({ file, command }: HostCommand): string {
  return `starting as ${file} says: ${command}`
}

/** Returns the note that a pre-deploy command of a file is used. */
export function releaseNote({ file, command }: HostCommand): string {
  return `before it goes live, as ${file} says: ${command}`
}

/** What the files for other hosts say about a tree. */
export interface HostFacts {
  /** The service's own settings, and those of the files where it has none. */
  settings: PlanSettings
  preDeployCommand: string | null
  /** The commands that are used, for a tree with its own Dockerfile, which notes them itself. */
  start: HostCommand | null
  release: HostCommand | null
  healthCheckPath: string | null
  port: number | null
  dockerfile: string | null
  /** Variables of the build and the program. */
  variables: Record<string, string>
  /** Variables that have to be set. */
  env: PlannedVariable[]
  notes: string[]
  /** The plan without these files, where there are any. */
  own: PlannedBuild | null
}

/** The commands of the files that are used. */
interface UsedCommands {
  start: HostCommand | null
  release: HostCommand | null
  build: HostCommand | null
}

/** The limit of a service's own list. */
const MAX_PACKAGES = 50

/**
 * Reads the files in which a tree says how other hosts build and start it. Commands that would break a plan that is right
 * without them are not used, and a note says why. `planWithout` is null for a tree that is built by a Dockerfile of its own.
 */
export async function readHostFiles(
  tree: Tree,
  settings: PlanSettings,
  planWithout: (() => Promise<PlanWithoutHost>) | null,
): Promise<HostFacts> {
  const notes: string[] = []
  const procfileTypes = await processTypes(tree)
  const { overriding, files } =
    planWithout === null ? await filesBesideDockerfile(tree, notes) : await filesForPlan(tree, notes)
  const without = files.length === 0 || planWithout === null ? null : await planWithout()
  const { packages, others } = packagesOf(files, settings, without?.language ?? '')
  if (others.length > 0 && planWithout !== null)
    notes.push(
      `packages of files for other hosts that are not installed: ${others.join(', ')}: set apt_packages for those of Debian`,
    )
  const scripts = without === null ? {} : await scriptsOf(tree)
  const candidates = { tree, settings, files, overriding, procfileTypes, without, packages, scripts, notes }
  const start = settings.startCommand === null ? await startIn(candidates) : null
  if (start !== null && planWithout !== null) notes.push(startNote(start))
  const release = settings.preDeployCommand === null ? await releaseIn(candidates) : null
  if (release !== null && planWithout !== null) notes.push(releaseNote(release))
  const build = settings.buildCommand === null ? await buildIn(candidates, start) : null
  if (build !== null) notes.push(`building as ${build.file} says: ${build.command}`)
  return {
    settings: { ...withCommands(settings, { start, release, build }), aptPackages: packages },
    preDeployCommand: release?.command ?? null,
    start,
    release,
    healthCheckPath: first(files, ({ healthCheckPath }) => healthCheckPath),
    port: first(files, ({ port }) => port),
    dockerfile: first(files, ({ dockerfile }) => dockerfile),
    variables: variablesOf(files, settings.buildCommand),
    env: variablesToSet(files),
    notes: [...new Set([...notes, ...files.flatMap((file) => file.notes)])],
    own: without?.own ?? null,
  }
}

/** The files of a tree in order of precedence, and those among them that override a Procfile. */
interface HostFiles {
  overriding: HostFile[]
  files: HostFile[]
}

async function filesForPlan(tree: Tree, notes: string[]): Promise<HostFiles> {
  const overriding = await readAll(BEFORE_PROCFILE, tree, notes)
  const others = await readAll(AFTER_PROCFILE, tree, notes)
  return { overriding, files: [...overriding, ...others.filter((file) => !file.isOfImage)] }
}

/** Reads the files that matter to a tree with its own Dockerfile. */
async function filesBesideDockerfile(tree: Tree, notes: string[]): Promise<HostFiles> {
  const overriding = await readAll([railway], tree, notes, beside)
  const others = await readAll(AFTER_PROCFILE, tree, notes, beside)
  return { overriding, files: [...overriding, ...others] }
}

async function readAll(
  readers: typeof BEFORE_PROCFILE,
  tree: Tree,
  notes: string[],
  asUsed: (file: HostFile, notes: string[]) => HostFile = (file) => file,
): Promise<HostFile[]> {
  const found: HostFile[] = []
  for (const read of readers) {
    const file = await read(tree, notes)
    if (file !== null) found.push(asUsed(file, notes))
  }
  return found
}

/** Returns what a file says about an image made by a Dockerfile, which keeps its own entrypoint. */
function beside(file: HostFile, notes: string[]): HostFile {
  if (file.file.startsWith('railway.') && !file.isOfBuilder) return file
  for (const command of [...Object.values(file.starts), ...(file.preDeploy === null ? [] : [file.preDeploy])])
    notes.push(
      `${file.file} says: ${command}: it is not used, because the Dockerfile says what its image runs`,
    )
  return { ...file, starts: {}, preDeploy: null }
}

/**
 * Returns the service's own packages with those of the files that every image can install, and the others, whose names
 * differ between releases.
 */
function packagesOf(
  files: readonly HostFile[],
  { aptPackages }: PlanSettings,
  language: string,
): { packages: string[]; others: string[] } {
  const named = [...new Set(files.flatMap((file) => file.aptPackages))]
  const known = named.filter((name) => isKnownPackage(name, language))
  const all = new Set([...aptPackages, ...known])
  return {
    packages: [...all].slice(0, Math.max(MAX_PACKAGES, aptPackages.length)),
    others: named.filter((name) => !known.includes(name)),
  }
}

/** Returns the settings with the commands of the files where the service has none of its own. */
function withCommands(settings: PlanSettings, { start, release, build }: UsedCommands): PlanSettings {
  return {
    ...settings,
    buildCommand: settings.buildCommand ?? build?.command ?? null,
    startCommand: settings.startCommand ?? start?.command ?? null,
    preDeployCommand: settings.preDeployCommand ?? release?.command ?? null,
  }
}

/** Returns the variables of the build and the program. */
function variablesOf(files: readonly HostFile[], buildCommand: string | null): Record<string, string> {
  const variables = Object.assign({}, ...files.toReversed().map((file) => file.variables)) as object
  const installs = files.flatMap((file) => [...file.installs, ...(file.build ?? [])])
  return { ...variables, ...installationVariables([buildCommand, ...installs]) }
}

/** Returns the variables whose values in the files are for other hosts. */
function variablesToSet(files: readonly HostFile[]): PlannedVariable[] {
  const wanted = new Map(
    files.flatMap((file) =>
      file.wanted.map((key) => [key, { key, generate: null, why: `${file.file} sets it for its own host` }]),
    ),
  )
  return [...wanted.values()]
}

function first<T>(files: readonly HostFile[], value: (file: HostFile) => T | null): T | null {
  return files.map(value).find((each) => each !== null) ?? null
}
