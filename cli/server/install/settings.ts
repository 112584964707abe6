import { chmodSync, readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { AppError } from '#server/errors.ts'
import { PRIVATE_FILE_MODE, writePrivateFile } from '#server/files.ts'
import { DNS_PROVIDER_VARIABLES } from '#server/options/dns-provider.ts'
import { FLAGS, parseFlags, type FlagName } from '#server/options/flags.ts'
import { SETTINGS_FILE } from './layout.ts'

/** Variables with their values. */
export type Settings = Record<string, string>

/** Paths are relative to the folder in which the command is run, but the server runs elsewhere. */
const isPath = (name: FlagName): boolean => name === 'data-dir' || name.endsWith('-file')
/** Flags that the units set themselves. */
const UNIT_FLAGS: FlagName[] = ['data-plane']
/** Variables that the server reads in addition to its flags. */
const EXTRA_VARIABLES = [...DNS_PROVIDER_VARIABLES, 'DOCKER_CONFIG']

/** Returns the settings saved for the units; none if nothing is installed. Throws `io_error` if they cannot be read. */
export function keptSettings(): Settings {
  return parseSettings(readKept())
}

/** Returns the settings that `deployer install` was given: flags, which win, and environment variables. */
export function givenSettings(argv: string[], environment: NodeJS.ProcessEnv): Settings {
  const flags = parseFlags(argv, 'install')
  const given: Settings = {}
  for (const variable of EXTRA_VARIABLES) take(variable, environment[variable])
  for (const name of Object.keys(FLAGS) as FlagName[]) {
    if (UNIT_FLAGS.includes(name)) continue
    const value = flags[name] ?? environment[FLAGS[name].variable]
    take(FLAGS[name].variable, value && isPath(name) ? resolve(value) : value)
  }
  return given

  function take(variable: string, value: string | undefined): void {
    if (value !== undefined) given[variable] = value
  }
}

/** Of some settings those that the server or its programs read; what else an environment can do is left out. */
export function knownSettings(settings: Settings): Settings {
  const known = new Set<string>([...Object.values(FLAGS).map(({ variable }) => variable), ...EXTRA_VARIABLES])
  return Object.fromEntries(Object.entries(settings).filter(([variable]) => known.has(variable)))
}

/** Saves settings with mode 0600, keeping the other lines of the file; an empty value removes a setting. */
export function keepSettings(given: Settings): void {
  const before = readKept()
  const after = withSettings(before, given)
  if (after === before && before !== '') return chmodSync(SETTINGS_FILE, PRIVATE_FILE_MODE)
  writePrivateFile(SETTINGS_FILE, after)
}

const HEADER = '# Settings of the server, one variable per line. Run deployer install after a change.\n'

/** Returns the text of an environment file with some variables set; a variable that is already there keeps its line. */
export function withSettings(text: string, given: Settings): string {
  const left = new Map(Object.entries(given))
  const lines = (text === '' ? HEADER : text).split('\n').flatMap((line) => {
    const variable = variableOf(line)
    if (variable === null || !(variable in given)) return [line]
    const value = left.get(variable)
    left.delete(variable)
    return value === undefined || value === '' ? [] : [assignment(variable, value, line)]
  })
  const added = [...left].filter(([, value]) => value !== '').map(([name, value]) => assignment(name, value))
  while (lines.at(-1) === '') lines.pop()
  return [...lines, ...added, ''].join('\n')
}

function assignment(variable: string, value: string, before?: string): string {
  if (/\p{Cc}/u.test(value))
    throw new AppError(
      'invalid_request',
      `${variable} contains a line break or another control character; remove it`,
    )
  if (before !== undefined && parseSettings(before)[variable] === value) return before
  return `${variable}="${value.replace(/["\\$`]/g, '\\$&')}"`
}

/** Reads an environment file like systemd.exec(5), one variable per line. Throws `invalid_request` that names the line. */
export function parseSettings(text: string): Settings {
  const settings: Settings = {}
  for (const [index, line] of text.split('\n').entries()) {
    const parsed = parseLine(line)
    if (parsed === 'broken')
      throw new AppError(
        'invalid_request',
        `${SETTINGS_FILE}, line ${index + 1}: write NAME=value or NAME="value"`,
      )
    if (parsed) settings[parsed.variable] = parsed.value
  }
  return settings
}

function variableOf(line: string): string | null {
  const parsed = parseLine(line)
  return parsed && parsed !== 'broken' ? parsed.variable : null
}

/** The parts of a value: in double quotes, in single quotes, escaped, or bare. */
const PARTS = /"((?:[^"\\]|\\.)*)"|'([^']*)'|\\(.)|([^"'\\])/gy

function parseLine(line: string): { variable: string; value: string } | 'broken' | null {
  const text = line.trim()
  if (text === '' || /^[#;]/.test(text)) return null
  const [, variable, rest] = /^([A-Za-z_][A-Za-z0-9_]*)\s*=\s*(.*)$/.exec(text) ?? []
  if (variable === undefined || rest === undefined) return 'broken'
  let value = ''
  let end = 0
  for (const [part, double, single, escaped, bare] of rest.matchAll(PARTS)) {
    end += part.length
    value += double?.replace(/\\(["\\$`])/g, '$1') ?? single ?? escaped ?? bare
  }
  return end === rest.length ? { variable, value } : 'broken'
}

function readKept(): string {
  try {
    return readFileSync(SETTINGS_FILE, 'utf8')
  } catch (cause) {
    const { code, message } = cause as NodeJS.ErrnoException
    if (code === 'ENOENT') return ''
    throw new AppError('io_error', `${message}: run this as root`, { cause })
  }
}
