import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'
import { AppError } from '../errors.ts'

/** Returns the data directory of a server that is not told which. Throws `invalid_request` where there is none. */
export function defaultDataDirectory(environment: NodeJS.ProcessEnv): string {
  if (process.getuid?.() === 0) return '/var/lib/deployer'
  const { XDG_DATA_HOME = '' } = environment
  // The XDG Base Directory Specification says that a relative path must be ignored.
  const folder = isAbsolute(XDG_DATA_HOME) ? XDG_DATA_HOME : join(homeOfUser(), '.local/share')
  return join(folder, 'deployer')
}

/** Throws `invalid_request` for a user without a home directory, such as an unknown user id in a container. */
function homeOfUser(): string {
  try {
    const home = homedir()
    if (isAbsolute(home)) return home
  } catch {
    // There is no such user.
  }
  throw new AppError('invalid_request', 'this user has no home directory: set --data-dir (DEPLOYER_DATA_DIR)')
}
