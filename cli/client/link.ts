import { existsSync, readFileSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { wrong } from '../fault.ts'
import { homeFolder } from '../this-user.ts'

export const LINK_FILE = '.deployer.json'
const MAX_BYTES = 64 * 1024
const FIELDS = ['service', 'environment', 'host'] as const

/** What `.deployer.json` says: which service a folder is deployed to. It is committed and has no secrets. */
export interface Link {
  file: string
  folder: string
  service: string
  environment: string | null
  /** The name of a saved server. */
  host: string | null
}

/**
 * The link of a folder, from the nearest link file in it or above, up to the first folder with `.git` or the home folder;
 * null if there is none. Throws Fault for a file that cannot be used.
 */
export function findLink(from: string = process.cwd()): Link | null {
  for (let folder = from; ; folder = dirname(folder)) {
    const file = join(folder, LINK_FILE)
    if (existsSync(file)) return readLink(file)
    const isLast = existsSync(join(folder, '.git')) || folder === homeFolder() || dirname(folder) === folder
    if (isLast) return null
  }
}

function readLink(file: string): Link {
  if (statSync(file).size > MAX_BYTES)
    throw wrong(`${file} is longer than 64 KiB; deployer init writes a new one`)
  const value = parsed(file)
  const unknown = Object.keys(value).find((key) => !(FIELDS as readonly string[]).includes(key))
  if (unknown !== undefined)
    throw wrong(`${file} has the unknown field ${JSON.stringify(unknown)}; it takes ${FIELDS.join(', ')}`)
  const bad = FIELDS.find(
    (field) => value[field] !== undefined && (typeof value[field] !== 'string' || value[field] === ''),
  )
  if (bad !== undefined) throw wrong(`${file}: ${bad} must be a text`)
  const { service, environment, host } = value as Record<string, string | undefined>
  if (service === undefined) throw wrong(`${file} names no service; deployer init writes a new one`)
  return { file, folder: dirname(file), service, environment: environment ?? null, host: host ?? null }
}

function parsed(file: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof value === 'object' && value !== null && !Array.isArray(value))
      return value as Record<string, unknown>
  } catch (cause) {
    if (!(cause instanceof SyntaxError)) throw cause
  }
  throw wrong(`${file} is not a JSON object; deployer init writes a new one`)
}
