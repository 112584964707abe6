import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, isAbsolute, join } from 'node:path'
import { EXIT, Fault } from '../fault.ts'

const VERSION = 1
const FILE_MODE = 0o600
const FOLDER_MODE = 0o700
const OPEN_TO_OTHERS = 0o077

/** A server that was signed in to. */
export interface SavedHost {
  url: string
  token: string
  token_hint: string
  ca_file: string | null
  environment: string | null
  /** RFC 3339. */
  saved_at: string
}

export interface Hosts {
  version: typeof VERSION
  default: string | null
  hosts: Record<string, SavedHost>
}

/** The folder of this user's configuration of the client. */
export function configFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(baseFolder(environment.XDG_CONFIG_HOME, environment.APPDATA, '.config'), 'deployer')
}

/** The folder of what can be fetched again. */
export function cacheFolder(environment: NodeJS.ProcessEnv = process.env): string {
  return join(baseFolder(environment.XDG_CACHE_HOME, environment.LOCALAPPDATA, '.cache'), 'deployer')
}

/** The XDG Base Directory Specification says that a relative path must be ignored. */
function baseFolder(given: string | undefined, ofWindows: string | undefined, fallback: string): string {
  if (given !== undefined && isAbsolute(given)) return given
  return process.platform === 'win32' && ofWindows ? ofWindows : join(homedir(), fallback)
}

/** The saved servers; none if there is no file. Throws Fault for a file that is not this program's. */
export function readHosts(): Hosts {
  const file = hostsFile()
  let text: string
  try {
    text = readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return { version: VERSION, default: null, hosts: {} }
    throw error
  }
  closeToOthers(file)
  return checked(file, text)
}

function checked(file: string, text: string): Hosts {
  let found: Partial<Hosts> | null
  try {
    found = JSON.parse(text) as Partial<Hosts> | null
  } catch {
    throw new Fault(EXIT.failed, `${file} is not JSON; repair it, or move it away and sign in again`)
  }
  if (typeof found?.version === 'number' && found.version > VERSION)
    throw new Fault(EXIT.failed, `${file} was written by a newer deployer; run deployer upgrade`)
  const entries = found?.version === VERSION && found.hosts ? Object.values(found.hosts) : null
  const isOurs = entries?.every(({ url, token }) => typeof url === 'string' && typeof token === 'string')
  if (!isOurs)
    throw new Fault(
      EXIT.failed,
      `${file} does not hold servers; repair it, or move it away and sign in again`,
    )
  return { version: VERSION, default: found?.default ?? null, hosts: found!.hosts! }
}

function closeToOthers(file: string): void {
  if (process.platform === 'win32' || (statSync(file).mode & OPEN_TO_OTHERS) === 0) return
  chmodSync(file, FILE_MODE)
  process.stderr.write(`deployer: other users could read ${file}; its mode is 0600 now\n`)
}

/** Replaces the saved servers at once: a reader sees the old file or the new one. */
export function writeHosts(hosts: Hosts): void {
  writePrivate(hostsFile(), `${JSON.stringify(hosts, null, 2)}\n`)
}

/** Writes a file that only this user can read, next to the old one, and renames it. */
export function writePrivate(file: string, text: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE })
  const partial = `${file}.${process.pid}.partial`
  try {
    writeFileSync(partial, text, { mode: FILE_MODE, flush: true })
    renameSync(partial, file)
  } catch (error) {
    rmSync(partial, { force: true })
    throw error
  }
}

function hostsFile(): string {
  return join(configFolder(), 'hosts.json')
}
