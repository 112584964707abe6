import { inOrder } from '../choices.ts'
import { installationVariables, withoutInstallation } from '../installation.ts'
import type { PlannedBuild, PlannedVariable, PlanSettings } from '../plan.ts'
import { processTypes } from '../procfile.ts'
import type { Tree } from '../source/tree.ts'
import { caprover } from './caprover.ts'
import { fly } from './fly.ts'
import { heroku } from './heroku.ts'
import { OWN_COMMANDS, type HostFile } from './host-file.ts'
import { against, type Known, type Purpose } from './judge.ts'
import { byManager, scriptsOf } from './managers.ts'
import { nixpacks } from './nixpacks.ts'
import { isKnownPackage } from './packages.ts'
import { railpack } from './railpack.ts'
import { railway } from './railway.ts'

/** In order of precedence. The first ones override a Procfile on their own hosts. */
const BEFORE_PROCFILE = [railway, railpack, nixpacks]
const AFTER_PROCFILE = [heroku, caprover, fly]

/** A command, and the file that contains it. */
export interface HostCommand {
  file: string
  command: string
}

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

/** The plan of a tree without these files. */
export type PlanWithoutHost = Omit<Known, 'file' | 'packages' | 'tree'>

/** A build script that runs anyway, and a start script that is looked at anyway. */
const OWN_BUILD = /^(?:npm|pnpm|yarn|bun)(?: run)? build$/
const OWN_START = /^(?:npm|pnpm|yarn|bun)(?: run)? start$/

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
  const types = await processTypes(tree)
  const before = await readAll(planWithout === null ? [railway] : BEFORE_PROCFILE)
  const after = (await readAll(AFTER_PROCFILE)).filter((file) => planWithout === null || !file.isOfImage)
  const files = [...before, ...after]
  const without = files.length === 0 || planWithout === null ? null : await planWithout()
  const packages = packagesOf()
  const scripts = without === null ? {} : await scriptsOf(tree)
  const start = settings.startCommand === null ? await startOf() : null
  if (start !== null && planWithout !== null) notes.push(startNote(start))
  const release = settings.preDeployCommand === null ? await releaseOf() : null
  if (release !== null && planWithout !== null) notes.push(releaseNote(release))
  const build = settings.buildCommand === null ? await buildOf() : null
  if (build !== null) notes.push(`building as ${build.file} says: ${build.command}`)
  const variables = Object.assign({}, ...files.toReversed().map((file) => file.variables)) as object
  const installs = files.flatMap((file) => [...file.installs, ...(file.build ?? [])])
  const wanted = new Map(
    files.flatMap((file) =>
      file.wanted.map((key) => [key, { key, generate: null, why: `${file.file} sets it for its own host` }]),
    ),
  )
  return {
    settings: {
      ...settings,
      buildCommand: settings.buildCommand ?? build?.command ?? null,
      startCommand: settings.startCommand ?? start?.command ?? null,
      preDeployCommand: settings.preDeployCommand ?? release?.command ?? null,
      aptPackages: packages,
    },
    preDeployCommand: release?.command ?? null,
    start,
    release,
    healthCheckPath: first(({ healthCheckPath }) => healthCheckPath),
    port: first(({ port }) => port),
    dockerfile: first(({ dockerfile }) => dockerfile),
    variables: { ...variables, ...installationVariables([settings.buildCommand, ...installs]) },
    env: [...wanted.values()],
    notes: [...new Set([...notes, ...files.flatMap((file) => file.notes)])],
    own: without?.own ?? null,
  }

  /** A script is the same with any package manager; the image has that of the lock file. */
  function byOwnManager(command: string): string {
    const name = without?.own.packageManager ?? null
    return name === null ? command : byManager(name, command, scripts)
  }

  async function readAll(readers: typeof BEFORE_PROCFILE): Promise<HostFile[]> {
    const found: HostFile[] = []
    for (const read of readers) {
      const file = await read(tree, notes)
      if (file !== null) found.push(planWithout === null ? beside(file) : file)
    }
    return found
  }

  /** Returns what a file says about an image made by a Dockerfile, which keeps its own entrypoint. */
  function beside(file: HostFile): HostFile {
    if (file.file.startsWith('railway.') && !file.isOfBuilder) return file
    for (const command of [
      ...Object.values(file.starts),
      ...(file.preDeploy === null ? [] : [file.preDeploy]),
    ])
      notes.push(
        `${file.file} says: ${command}: it is not used, because the Dockerfile says what its image runs`,
      )
    return { ...file, starts: {}, preDeploy: null }
  }

  function first<T>(value: (file: HostFile) => T | null): T | null {
    return files.map(value).find((each) => each !== null) ?? null
  }

  /**
   * Returns the service's own packages, and those of the files that every image can install; the names of others differ
   * between releases.
   */
  function packagesOf(): string[] {
    const named = [...new Set(files.flatMap(({ aptPackages }) => aptPackages))]
    const known = named.filter((name) => isKnownPackage(name, without?.language ?? ''))
    const others = named.filter((name) => !known.includes(name))
    if (others.length > 0 && planWithout !== null)
      notes.push(
        `packages of files for other hosts that are not installed: ${others.join(', ')}: set apt_packages for those of Debian`,
      )
    const all = new Set([...settings.aptPackages, ...known])
    return [...all].slice(0, Math.max(MAX_PACKAGES, settings.aptPackages.length))
  }

  /** Whether nothing speaks against a command; otherwise a note says what does. */
  async function takes(file: string, command: string, purpose: Purpose): Promise<boolean> {
    if (without === null) return true
    const reason = await against(command, purpose, { ...without, file, tree, packages })
    if (reason !== null) notes.push(`${file} says: ${command}: it is not used, because ${reason}`)
    return reason === null
  }

  /** The single command of such a file is for the web service if a Procfile has a line for the worker. */
  async function startOf(): Promise<HostCommand | null> {
    const { processType } = settings
    if (processType === 'static') return null
    const hasLine = types.has(processType)
    const candidates = !hasLine ? files : processType === 'worker' ? [] : before
    for (const { file, starts } of candidates) {
      const said = starts[processType]
      if (said === undefined) continue
      const command = byOwnManager(said)
      const isOwn = without !== null && (OWN_START.test(command) || command === without.own.startCommand)
      return !isOwn && (await takes(file, command, 'start')) ? { file, command } : null
    }
    return null
  }

  async function releaseOf(): Promise<HostCommand | null> {
    for (const { file, preDeploy } of types.has('release') ? before : files) {
      if (preDeploy === null) continue
      const command = byOwnManager(preDeploy)
      return (await takes(file, command, 'release')) ? { file, command } : null
    }
    return null
  }

  async function buildOf(): Promise<HostCommand | null> {
    const builder = files.find((file) => file.build !== null)
    if (builder === undefined || without === null) return null
    const { file } = builder
    const commands = builder.build!.flatMap((each) => withoutInstallation(each) ?? []).map(byOwnManager)
    const theirs = inOrder(commands.filter((each) => each !== OWN_COMMANDS))
    if (theirs === null || (commands.length === 1 && OWN_BUILD.test(theirs))) return null
    // A file that only builds does not say what to start then.
    const isUnknown = without.own.obstacle !== null && start === null && settings.startCommand === null
    if (isUnknown && settings.processType !== 'static') {
      notes.push(`${file} says: ${theirs}: it is not used, because nothing says how to start what it builds`)
      return null
    }
    if (!(await takes(file, theirs, 'build'))) return null
    return { file, command: composed(commands, without.own.buildCommand) }
  }
}

/** Whether a command leaves the working directory unchanged, and fails if a part of it does. */
function isPlain(command: string): boolean {
  return !/\b(?:cd|pushd|set|exec|exit)\s|[|;]|(?:^|[^&])&(?:$|[^&])/.test(command)
}

/** Combines the commands of a file with those that are found. Each runs in the root, wherever the one before it went. */
function composed(build: readonly string[], own: string | null): string {
  const commands = build.flatMap((command) =>
    command !== OWN_COMMANDS ? [command] : own === null ? [] : [own],
  )
  const parts =
    commands.length === 1 ? commands : commands.map((each) => (isPlain(each) ? each : `(${each})`))
  return parts.join(' && ')
}
