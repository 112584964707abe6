/** A step that a build executes instead of taking it from the cache; times are the engine's. */
export interface BuiltStep {
  /** As BuildKit shows it, with the variables of its command expanded. */
  name: string
  /** The build arguments whose values may be part of the name. */
  buildArgs: Record<string, string>
  hasFailed: boolean
  startedMs: number
  /** Null while it runs. */
  completedMs: number | null
}

/** A record of the engine's build cache, as in its API. */
export interface CacheRecord {
  ID: string
  /** Set by engines up to API 1.41; later ones have a list. */
  Parent?: string
  Parents?: string[]
  Description: string
  InUse: boolean
  /** Whether an existing image uses it, so that it takes no space of its own. */
  Shared: boolean
  Size: number
  CreatedAt: string
  LastUsedAt?: string | null
}

/** The engine's times have nanoseconds, which a Date lacks. */
const MOMENT_SLACK_MS = 1

/** The records that a step creates at its beginning, which alone count if its end is unknown: its cache mounts. */
const AT_BEGIN = /^cached mount /
/** They are created within this time; a later record may belong to another step. */
const BEGIN_MS = 5_000

/** The end of the description of a command's record: the command, as it is written in the Dockerfile. */
const FROM_EXEC = / from exec (\/bin\/sh -c )?([^]*)$/
/** A variable in a command; the name of the step has its value instead (BuildKit, dockerfile2llb, processCmdEnv). */
const VARIABLE = /\$(?:(\w+)|\{(\w+)\})/g
/** Steps that put files into an image. */
const FILE_STEP = /^\[[^\]]*\] (?:COPY|ADD|WORKDIR) /

/** The records that a step created; none if a match is ambiguous. */
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
  // Another description that expands to the same name is from another build, which wrote a variable differently.
  if (asWritten.length === 0 && byDescription.size > 1) return []
  return [...byDescription.values()].flatMap((alike) => (alike.length === 1 ? alike : []))
}

/** Whether a step that is interrupted may leave something: the folders of its cache mounts outlive it. */
export function hasCacheMounts({ name }: BuiltStep): boolean {
  return cacheMountsOf(name).length > 0
}

/** Whether a record matches a step that succeeded, once the variables of its command are expanded with the arguments. */
function isExpanded({ Description }: CacheRecord, { name, buildArgs, hasFailed }: BuiltStep): boolean {
  const [, shell, command = ''] = FROM_EXEC.exec(Description) ?? []
  if (hasFailed || shell === undefined || !Description.startsWith('mount / ')) return false
  const expanded = expandedBy(command, buildArgs)
  return expanded !== command && expanded === commandOf(name)
}

/** A command with its variables expanded. */
export function expandedBy(command: string, values: Record<string, string>): string {
  return command.replaceAll(VARIABLE, (variable: string, plain?: string, braced?: string) => {
    const name = plain ?? braced ?? ''
    return Object.hasOwn(values, name) ? values[name]! : variable
  })
}

/** Whether this is how BuildKit describes a record of the step (its solver, ops/exec.go and ops/file.go; source/http). */
export function isOfStep(description: string, step: string): boolean {
  if (step.startsWith('[internal] load')) return /^(?:http url |local source for )/.test(description)
  const folder = /^cached mount (\S+) from exec /.exec(description)?.[1]
  if (folder !== undefined && !sharesFolder(step, folder)) return false
  const command = FROM_EXEC.exec(description)?.[2]
  if (command !== undefined) return command === commandOf(step)
  return description === step || (description === 'fileop target' && FILE_STEP.test(step))
}

/** Whether one of a step's mounts is a cache in this folder. */
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

/** The command of a step, without its position (`[build 2/5]`) and its flags. */
function commandOf(step: string): string | undefined {
  let command = /^\[[^\]]*\] RUN ([^]*)$/.exec(step)?.[1]
  for (let flag; (flag = /^--\S+\s+/.exec(command ?? ''));) command = command!.slice(flag[0].length)
  return command
}
