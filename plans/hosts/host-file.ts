import type { ProcessType } from '../plan.ts'
import { withoutSlashComments } from '../source/comments.ts'
import { isRecord, parsedJson } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'

/** A placeholder among commands for those that are found without the file. */
export const OWN_COMMANDS = '...'

/** What a file for another host says about building and running. */
export interface HostFile {
  /** The file name, for notes. */
  file: string
  /** Start commands by process type. */
  starts: Partial<Record<ProcessType, string>>
  /** Build commands in order, with `OWN_COMMANDS` for what is found without the file; null where it does not say. */
  build: string[] | null
  /** Installation commands, which the plan runs in its own form: an option of theirs may matter. */
  installs: string[]
  preDeploy: string | null
  healthCheckPath: string | null
  /** Debian packages for the build and the program. */
  aptPackages: string[]
  /** Variables of the build and the program. */
  variables: Record<string, string>
  /** Variables with values for that host, which have to be set again here. */
  wanted: string[]
  /** A Dockerfile to build with, if it is not in the usual place. */
  dockerfile: string | null
  /** The port on which the program listens, whatever it is told. */
  port: number | null
  /** Whether a builder of the host makes the image: a Dockerfile next to the file is not meant then. */
  isOfBuilder: boolean
  /** Whether its commands are for the image that its Dockerfile makes, whose folders no other image has. */
  isOfImage: boolean
  notes: string[]
}

/** A file that says nothing yet. */
export function silent(file: string): HostFile {
  return {
    file,
    starts: {},
    build: null,
    installs: [],
    preDeploy: null,
    healthCheckPath: null,
    aptPackages: [],
    variables: {},
    wanted: [],
    dockerfile: null,
    port: null,
    isOfBuilder: false,
    isOfImage: false,
    notes: [],
  }
}

/**
 * Reads such a file as an object; null without one. An unreadable file is reported in `notes` and does not fail the build.
 * The parsers are loaded by the first file that needs one.
 */
export async function readRecord(
  tree: Tree,
  file: string,
  notes: string[],
): Promise<Record<string, unknown> | null> {
  const text = await tree.readHead(file)
  if (text === null) return null
  const value = await parsed(file, text)
  if (isRecord(value)) return value
  notes.push(`${file} cannot be read and is not used`)
  return null
}

async function parsed(file: string, text: string): Promise<unknown> {
  if (file.endsWith('.json') || !file.includes('.')) return parsedJson(withoutSlashComments(text))
  try {
    if (file.endsWith('.toml')) return (await import('smol-toml')).parse(text)
    return (await import('yaml')).parse(text, { maxAliasCount: 0 })
  } catch {
    return undefined
  }
}

/** Returns a nested value; undefined where one of the keys is missing. */
export function at(value: unknown, ...names: string[]): unknown {
  return names.reduce((found, name) => {
    if (Array.isArray(found)) return isRecord(found[0]) ? own(found[0], name) : undefined
    return isRecord(found) ? own(found, name) : undefined
  }, value)
}

function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined
}

/** A longer text is not a command that a person wrote. */
const MAX_COMMAND_CHARACTERS = 4_000
const MAX_COMMANDS = 50

/** Returns a command of one line; null for anything else. */
export function commandOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const text = value.trim()
  return text === '' || text.length > MAX_COMMAND_CHARACTERS || /[\p{Cc}]/u.test(text) ? null : text
}

/** Returns a command, or several of a list; other entries are ignored. */
export function commandsOf(value: unknown): string[] {
  const list: unknown[] = Array.isArray(value) ? value : [value]
  return list.slice(0, MAX_COMMANDS).flatMap((each) => commandOf(isRecord(each) ? each.cmd : each) ?? [])
}

/** Joins a list of commands into one; null for none. */
export function joined(commands: readonly string[]): string | null {
  return commands.length === 0 ? null : commands.join(' && ')
}

/** Returns the start commands of a file; if it has only one, it is used for a worker too. */
export function startsOf(web: string | null, worker: string | null = web): HostFile['starts'] {
  return { ...(web === null ? {} : { web }), ...(worker === null ? {} : { worker }) }
}

/** Returns the build commands; null where they are those found without the file. */
export function buildOf(commands: string[]): string[] | null {
  return commands.length === 1 && commands[0] === OWN_COMMANDS ? null : commands
}

/** Returns the strings of a list. */
export function textsIn(value: unknown): string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string').slice(0, MAX_COMMANDS) : []
}

/** A path as the API accepts it for health checks. */
export function pathOf(value: unknown): string | null {
  return typeof value === 'string' && /^\/[\w./~%+-]{0,500}$/.test(value) ? value : null
}

/** A port that a program can listen on. */
export function portOf(value: unknown): number | null {
  const port = typeof value === 'string' && /^\d{1,5}$/.test(value) ? Number(value) : value
  return typeof port === 'number' && Number.isInteger(port) && port > 0 && port < 65_536 ? port : null
}

/** Returns a path inside the tree; null for anything else. */
export function fileOf(value: unknown): string | null {
  const path = typeof value === 'string' ? value.replace(/^(?:\.?\/)+/, '') : ''
  return /^[\w.-]+(?:\/[\w.-]+)*$/.test(path) && !path.split('/').includes('..') ? path : null
}

/** Variables that only the host or a plan can set: others would change what is installed, or from where the program runs. */
const OF_THE_HOST =
  /^(?:PATH|HOME|PORT|HOST|HOSTNAME|SHELL|PWD|LD_.*|NODE_ENV|VIRTUAL_ENV|PYTHONHOME|npm_config_(?!legacy_peer_deps$).*|YARN_.*|PIP_.*|BUNDLE_.*|NIXPACKS_.*|RAILPACK_.*)$/i
/** A name as the API accepts it for variables. */
const NAME = /^(?!DEPLOYER_)[A-Za-z_]\w{0,127}$/
const MAX_VARIABLES = 50
const MAX_VALUE_CHARACTERS = 2_000

/** Returns the variables with plain values. Paths of Nix, and references to services of that host, mean nothing here. */
export function variablesOf(value: unknown): Record<string, string> {
  const entries = Object.entries(isRecord(value) ? value : {}).flatMap(([key, each]): [string, string][] => {
    const text = ['string', 'number', 'boolean'].includes(typeof each) ? String(each) : null
    const isPlain =
      text !== null && text.length <= MAX_VALUE_CHARACTERS && !/[\p{Cc}]|\$\{\{|\/nix\//u.test(text)
    return isPlain && NAME.test(key) && !OF_THE_HOST.test(key) ? [[key, text]] : []
  })
  return Object.fromEntries(entries.slice(0, MAX_VARIABLES))
}
