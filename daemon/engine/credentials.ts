import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { AppError } from '#server/errors.ts'
import { canonicalRegistry } from '#server/images/reference.ts'

/** The credentials for a registry; `identityToken` replaces the other two. */
export interface RegistryCredentials {
  username: string
  password: string
  identityToken?: string
}

/** Finds the credentials for a registry (`docker.io`, `host:port`). Null when there are none. */
export type RegistryAuth = (registry: string) => Promise<RegistryCredentials | null>

interface ClientConfiguration {
  auths?: Record<string, { auth?: string; username?: string; password?: string; identitytoken?: string }>
  credHelpers?: Record<string, string>
  credsStore?: string
}

/** Docker Hub's key in `config.json`. */
const HUB_KEY = 'https://index.docker.io/v1/'
/** A helper that prompts for input would never end. */
const HELPER_TIMEOUT_MS = 15_000
const HELPER_NAME = /^[\w.-]+$/

/**
 * The credentials for a registry (`docker.io`, `host:port`) from the Docker `config.json` of the user that runs the
 * server: from the registry's own helper, `auths`, or the common helper. Null when there are none.
 * Throws `runtime_error` when the file cannot be read.
 */
export async function registryCredentials(registry: string): Promise<RegistryCredentials | null> {
  const configuration = await readConfiguration()
  const helper = findByRegistry(configuration.credHelpers ?? {}, registry)
  if (helper) return askHelper(helper.value, helper.key)
  const entry = findByRegistry(configuration.auths ?? {}, registry)
  const written = entry && readEntry(entry.value)
  if (written) return written
  if (configuration.credsStore)
    return askHelper(configuration.credsStore, entry?.key ?? engineKeyOf(registry))
  return null
}

/** Where the Docker client keeps its configuration. */
function configurationFile(): string {
  return join(process.env.DOCKER_CONFIG ?? join(homedir(), '.docker'), 'config.json')
}

async function readConfiguration(): Promise<ClientConfiguration> {
  const file = configurationFile()
  try {
    const value: unknown = JSON.parse(await readFile(file, 'utf8'))
    return typeof value === 'object' && value !== null ? value : {}
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return {}
    throw new AppError(
      'runtime_error',
      `the registry credentials in ${file} cannot be read: fix or remove the file`,
      {
        cause: error,
      },
    )
  }
}

/** Keys may be written as `host`, `https://host` or `https://host/v1/`. */
function findByRegistry<T>(entries: Record<string, T>, registry: string): { key: string; value: T } | null {
  for (const [key, value] of Object.entries(entries)) {
    const host = key.replace(/^https?:\/\//, '').split('/')[0]!
    if (canonicalRegistry(host) === registry) return { key, value }
  }
  return null
}

/** What Docker calls a registry in its configuration. */
export function engineKeyOf(registry: string): string {
  return registry === 'docker.io' ? HUB_KEY : registry
}

/** Credentials as the engine's API takes them. */
export function authOf({ username, password, identityToken }: RegistryCredentials): Record<string, string> {
  return identityToken === undefined ? { username, password } : { identitytoken: identityToken }
}

function readEntry(entry: NonNullable<ClientConfiguration['auths']>[string]): RegistryCredentials | null {
  if (entry.identitytoken) return { username: '', password: '', identityToken: entry.identitytoken }
  if (entry.auth) {
    const pair = Buffer.from(entry.auth, 'base64').toString()
    const colon = pair.indexOf(':')
    if (colon > 0)
      return { username: pair.slice(0, colon), password: pair.slice(colon + 1).split('\0', 1)[0]! }
  }
  if (entry.username) return { username: entry.username, password: entry.password ?? '' }
  return null
}

/** The helpers' protocol: https://github.com/docker/docker-credential-helpers#development */
function askHelper(name: string, key: string): Promise<RegistryCredentials | null> {
  if (!HELPER_NAME.test(name)) {
    throw new AppError('runtime_error', `${configurationFile()} names an invalid credential helper: ${name}`)
  }
  return new Promise((resolve, reject) => {
    const program = `docker-credential-${name}`
    const child = execFile(program, ['get'], { timeout: HELPER_TIMEOUT_MS }, (error, stdout) => {
      if (error && (error as NodeJS.ErrnoException).code === 'ENOENT') {
        reject(
          new AppError(
            'runtime_error',
            `${program}, named in ${configurationFile()}, is not installed: install it, or remove it there`,
          ),
        )
        return
      }
      // A helper without an entry for the registry fails: the pull then uses no credentials.
      if (error) return resolve(null)
      const answer = readAnswer(stdout)
      if (answer === null) {
        reject(
          new AppError(
            'runtime_error',
            `${program}, named in ${configurationFile()}, printed no credentials`,
          ),
        )
      } else if (answer.Username === '<token>') {
        resolve({ username: '', password: '', identityToken: answer.Secret })
      } else resolve({ username: answer.Username, password: answer.Secret })
    })
    child.stdin?.on('error', () => {})
    child.stdin?.end(key)
  })
}

/** Parses a helper's output; null when it is something else, such as a warning. */
function readAnswer(printed: string): { Username: string; Secret: string } | null {
  try {
    const { Username, Secret } = JSON.parse(printed) as Record<string, unknown>
    return typeof Username === 'string' && typeof Secret === 'string' ? { Username, Secret } : null
  } catch {
    return null
  }
}
