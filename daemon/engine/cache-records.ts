/** A step that a build carries out, rather than takes from the cache; moments are the engine's own. */
export interface BuiltStep {
  /** As BuildKit shows it, with values in place of the variables of its command. */
  name: string
  /** The build arguments whose values may stand in the name. */
  buildArgs: Record<string, string>
  hasFailed: boolean
  startedMs: number
  /** Null while it runs. */
  completedMs: number | null
}

/** A record of the engine's build cache, as its API tells it. */
export interface CacheRecord {
  ID: string
  /** Of engines up to API 1.41; later ones have a list. */
  Parent?: string
  Parents?: string[]
  Description: string
  InUse: boolean
  /** Kept by an image that is there, so that it takes no place of its own. */
  Shared: boolean
  Size: number
  CreatedAt: string
  LastUsedAt?: string | null
}

/** The engine's moments of a record have nanoseconds, a Date has not. */
const MOMENT_SLACK_MS = 1

/** Of a step whose end is not known, what is made at its beginning: the folders that its cache mounts stand for. */
const AT_BEGIN = /^cached mount /
/** Within this; what comes later may be another's. */
const BEGIN_MS = 5_000

/** How the description of what a command made ends: with the command, as it is written in the Dockerfile. */
const FROM_EXEC = / from exec (\/bin\/sh -c )?([^]*)$/
/** In a command; in the name of its step the value stands in its place (BuildKit, dockerfile2llb, processCmdEnv). */
const VARIABLE = /\$(?:(\w+)|\{(\w+)\})/g
/** Steps that put files into an image. */
const FILE_STEP = /^\[[^\]]*\] (?:COPY|ADD|WORKDIR) /

/** The records that a step made; none where more than one could be meant. */
export function madeBy(step: BuiltStep, all: readonly CacheRecord[]): CacheRecord[] {
  const endMs = step.completedMs ?? step.startedMs + BEGIN_MS
  const during = all.filter(({ CreatedAt, Description }) => {
    const madeMs = Date.parse(CreatedAt)
    const isWithin = madeMs >= step.startedMs - MOMENT_SLACK_MS && madeMs <= endMs + MOMENT_SLACK_MS
    return isWithin && (step.completedMs !== null || AT_BEGIN.test(Description))
  })
  const asWritten = during.filter(({ Description }) => isOfStep(Description, step.name))
  const made = asWritten.length > 0 ? asWritten : during.filter((record) => isExpanded(record, step))
  const byDescription = Map.groupBy(made, ({ Description }) => Description)
  // Another description of the same name is another build's: it wrote a variable in another way.
  if (asWritten.length === 0 && byDescription.size > 1) return []
  return [...byDescription.values()].flatMap((alike) => (alike.length === 1 ? alike : []))
}

/** Whether a step that is broken off may leave something: the folders of its cache mounts outlive it. */
export function leavesAtOnce({ name }: BuiltStep): boolean {
  return cacheMountsOf(name).length > 0
}

/** Whether a record is of a step that succeeded, once the variables of its command have the values of the build's arguments. */
function isExpanded({ Description }: CacheRecord, { name, buildArgs, hasFailed }: BuiltStep): boolean {
  const [, shell, command = ''] = FROM_EXEC.exec(Description) ?? []
  if (hasFailed || shell === undefined || !Description.startsWith('mount / ')) return false
  const expanded = expandedBy(command, buildArgs)
  return expanded !== command && expanded === commandOf(name)
}

/** A command with the values of arguments in place of variables. */
export function expandedBy(command: string, values: Record<string, string>): string {
  return command.replaceAll(VARIABLE, (variable: string, plain?: string, braced?: string) => {
    const name = plain ?? braced ?? ''
    return Object.hasOwn(values, name) ? values[name]! : variable
  })
}

/** Whether BuildKit describes what a step makes like this (its solver, ops/exec.go and ops/file.go; source/http). */
export function isOfStep(description: string, step: string): boolean {
  if (step.startsWith('[internal] load')) return /^(?:http url |local source for )/.test(description)
  const folder = /^cached mount (\S+) from exec /.exec(description)?.[1]
  if (folder !== undefined && !sharesFolder(step, folder)) return false
  const command = FROM_EXEC.exec(description)?.[2]
  if (command !== undefined) return command === commandOf(step)
  return description === step || (description === 'fileop target' && FILE_STEP.test(step))
}

/** Whether one of a step's mounts is a cache at this folder. */
function sharesFolder(step: string, folder: string): boolean {
  const keys = ['target', 'dst', 'destination']
  return cacheMountsOf(step).some((mount) => keys.some((key) => mount.includes(`${key}=${folder}`)))
}

/** The settings of each of a step's cache mounts (Dockerfile reference, RUN --mount=type=cache). */
function cacheMountsOf(step: string): string[][] {
  return [...step.matchAll(/--mount=(\S+)/g)]
    .map(([, mount]) => mount!.split(','))
    .filter((settings) => settings.includes('type=cache'))
}

/** What a step runs, without its place (`[build 2/5]`) and its flags. */
function commandOf(step: string): string | undefined {
  let command = /^\[[^\]]*\] RUN ([^]*)$/.exec(step)?.[1]
  for (let flag; (flag = /^--\S+\s+/.exec(command ?? ''));) command = command!.slice(flag[0].length)
  return command
}
