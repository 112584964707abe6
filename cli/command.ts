import type { Call } from './call.ts'

/** What the value of a flag or a word may be, for completion. */
export type Completes =
  readonly string[] | 'service' | 'datastore' | 'environment' | 'group' | 'deploy' | 'node' | 'host' | 'file'

export interface Flag {
  name: string
  short?: string
  /** What its value is, such as `branch`, for the help. A flag without one is a switch. */
  value?: string
  repeats?: boolean
  summary: string
  /** For a switch for which people give a value: why it takes none. */
  refusesValue?: string
  completes?: Completes
}

/** A word after the command. */
export interface Word {
  name: string
  isOptional?: boolean
  /** Takes every further word, too. */
  repeats?: boolean
  completes?: Completes
}

export type Group =
  | 'Deploy'
  | 'Services'
  | 'Variables'
  | 'Datastores'
  | 'Domains'
  | 'Server'
  | 'This computer'
  | "The server's host"

/** Ends with the exit code, 0 if it returns none. Throws Fault. */
export type Program = (call: Call) => Promise<number | void>

/** A row of the table from which parser, help, completion and docs/cli.md are made. */
export interface Command {
  /** One word or two, such as `env set`. */
  name: string
  aliases?: readonly string[]
  group: Group
  summary: string
  words?: readonly Word[]
  /** Whether words after `--` belong to another program. */
  takesCommand?: true
  flags?: readonly Flag[]
  /** Further paragraphs of its help. */
  more?: string
  /** Two lines as they are typed, without `deployer`. */
  examples: readonly string[]
  /** Exit codes that it adds. */
  exits?: Readonly<Record<string, string>>
  /** Not listed by the overview and completion. */
  isHidden?: true
  /** Listed by the overview with its name alone, so that this fits a screen. */
  isMinor?: true
  /** Its program is in the server's build alone, by the same name; exit code 1 for wrong words. */
  isOfServer?: true
  /** The same when it is called with a word; without one it is a command of the client. */
  isOfServerWithWords?: true
  /** The program reads its own words: `serve` and `install`, whose switches may have values. */
  readsOwnWords?: true
  load?: () => Promise<Program>
}

/** Flags that every command of the client takes. */
export const COMMON_FLAGS: readonly Flag[] = [
  {
    name: 'host',
    value: 'host',
    summary: 'the server: a URL, or the name of a saved one',
    completes: 'host',
  },
  {
    name: 'environment',
    short: 'e',
    value: 'name',
    summary: 'the environment (production)',
    completes: 'environment',
  },
  {
    name: 'service',
    short: 's',
    value: 'service',
    summary: 'the service: a name or an id',
    completes: 'service',
  },
  { name: 'json', summary: "print the API's own JSON" },
  { name: 'quiet', short: 'q', summary: 'print names alone' },
  { name: 'yes', short: 'y', summary: 'answer questions with yes' },
  { name: 'no-input', summary: 'ask nothing' },
  { name: 'no-color', summary: 'print without colours' },
  { name: 'ca', value: 'file', summary: 'PEM certificates to trust as well', completes: 'file' },
  { name: 'debug', summary: 'report each request on standard error' },
  { name: 'help', short: 'h', summary: 'describe the command' },
]

/** The flags that a command takes. */
export function flagsOf(command: Command): readonly Flag[] {
  const own = command.flags ?? []
  if (command.isOfServer) return [...own, COMMON_FLAGS.at(-1)!]
  const names = new Set(own.map(({ name }) => name))
  return [...own, ...COMMON_FLAGS.filter(({ name }) => !names.has(name))]
}
