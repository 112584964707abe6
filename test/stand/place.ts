import { mkdirSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where the test stand keeps everything it creates: `DEPLOYER_STAND_DIR`, else the system's or the user's cache. */
export function standDirectory(): string {
  const named = process.env.DEPLOYER_STAND_DIR
  if (named) return named
  if (process.getuid?.() === 0) return '/var/cache/deployer-stand'
  return join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'deployer-stand')
}

/** A folder of the stand, created if it is missing. */
export function standFolder(...names: string[]): string {
  const path = join(standDirectory(), ...names)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}

/** The private engine's socket. */
export function engineSocket(): string {
  return join(standDirectory(), 'docker.sock')
}
