import { inOrder } from '../choices.ts'
import { withoutInstallation } from '../installation.ts'
import type { PlanSettings } from '../plan.ts'
import type { Tree } from '../source/tree.ts'
import { OWN_COMMANDS, type HostFile } from './host-file.ts'
import { against, type Known, type Purpose } from './judge.ts'
import { byManager } from './managers.ts'

/** A command, and the file that contains it. */
export interface HostCommand {
  file: string
  command: string
}

/** The plan of a tree without these files. */
export type PlanWithoutHost = Omit<Known, 'file' | 'packages' | 'tree'>

/** What the choice among the commands of files for other hosts depends on. */
export interface Candidates {
  tree: Tree
  settings: PlanSettings
  /** In order of precedence. */
  files: readonly HostFile[]
  /** Those that override a Procfile. */
  overriding: readonly HostFile[]
  /** The process types that a Procfile has a line for. */
  procfileTypes: ReadonlySet<string>
  /** Null for a tree that is built by a Dockerfile of its own. */
  without: PlanWithoutHost | null
  /** Debian packages that are installed. */
  packages: readonly string[]
  /** The scripts of the tree's package.json. */
  scripts: Record<string, string>
  /** Gets a note for each command that is not used. */
  notes: string[]
}

/** A build script that runs anyway, and a start script that is looked at anyway. */
const OWN_BUILD = /^(?:npm|pnpm|yarn|bun)(?: run)? build$/
const OWN_START = /^(?:npm|pnpm|yarn|bun)(?: run)? start$/

/** The single command of such a file is for the web service if a Procfile has a line for the worker. */
export async function startIn(candidates: Candidates): Promise<HostCommand | null> {
  const { settings, files, overriding, procfileTypes, without } = candidates
  const { processType } = settings
  if (processType === 'static') return null
  const hasLine = procfileTypes.has(processType)
  for (const { file, starts } of !hasLine ? files : processType === 'worker' ? [] : overriding) {
    const said = starts[processType]
    if (said === undefined) continue
    const command = byOwnManager(candidates, said)
    const isOwn = without !== null && (OWN_START.test(command) || command === without.own.startCommand)
    return !isOwn && (await takes(candidates, file, command, 'start')) ? { file, command } : null
  }
  return null
}

/** Returns the pre-deploy command of the first file that has one, if it is used. */
export async function releaseIn(candidates: Candidates): Promise<HostCommand | null> {
  const { files, overriding, procfileTypes } = candidates
  for (const { file, preDeploy } of procfileTypes.has('release') ? overriding : files) {
    if (preDeploy === null) continue
    const command = byOwnManager(candidates, preDeploy)
    return (await takes(candidates, file, command, 'release')) ? { file, command } : null
  }
  return null
}

/** Returns the build commands of the first file that has some, as one, if they are used. `start` is what a file starts. */
export async function buildIn(
  candidates: Candidates,
  start: HostCommand | null,
): Promise<HostCommand | null> {
  const { settings, files, without, notes } = candidates
  const builder = files.find((file) => file.build !== null)
  if (builder === undefined || without === null) return null
  const { file } = builder
  const commands = builder
    .build!.flatMap((each) => withoutInstallation(each) ?? [])
    .map((each) => byOwnManager(candidates, each))
  const theirs = inOrder(commands.filter((each) => each !== OWN_COMMANDS))
  if (theirs === null || (commands.length === 1 && OWN_BUILD.test(theirs))) return null
  // A file that only builds does not say what to start then.
  const isUnknown = without.own.obstacle !== null && start === null && settings.startCommand === null
  if (isUnknown && settings.processType !== 'static') {
    notes.push(`${file} says: ${theirs}: it is not used, because nothing says how to start what it builds`)
    return null
  }
  if (!(await takes(candidates, file, theirs, 'build'))) return null
  return { file, command: composed(commands, without.own.buildCommand) }
}

/** A script is the same with any package manager; the image has that of the lock file. */
function byOwnManager({ without, scripts }: Candidates, command: string): string {
  const name = without?.own.packageManager ?? null
  return name === null ? command : byManager(name, command, scripts)
}

/** Whether nothing speaks against a command; otherwise a note says what does. */
async function takes(
  { tree, without, packages, notes }: Candidates,
  file: string,
  command: string,
  purpose: Purpose,
): Promise<boolean> {
  if (without === null) return true
  const reason = await against(command, purpose, { ...without, file, tree, packages })
  if (reason !== null) notes.push(`${file} says: ${command}: it is not used, because ${reason}`)
  return reason === null
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
