import { hashesFor, keptUsers } from '../edge/columns.ts'
import { PasswordHashes, type GivenUser } from '../edge/passwords.ts'
import { AppError } from '../errors.ts'
import type { ServiceRow } from '../services/store.ts'
import { placeIn } from './nodes.ts'
import type { Project, WantedService } from './project.ts'
import { Standing } from './standing.ts'

/** Each takes a fifth of a second to hash, and an editor sends a file again and again. */
const MAX_PASSWORDS = 100

/**
 * Hashes the passwords in a file. New users whose password is set by hand get one that nobody knows, so that what is protected
 * stays closed until it is set. Throws `invalid_request` for too many.
 */
export async function hashPasswords({ services }: Project): Promise<PasswordHashes> {
  const hashes = new PasswordHashes()
  const users = services.flatMap(usersOf)
  const count = users.filter(({ password }) => password !== null).length
  if (count > MAX_PASSWORDS)
    throw new AppError(
      'invalid_request',
      `the file has ${count} passwords in basic_auth: at most ${MAX_PASSWORDS} are allowed`,
    )
  if (count < users.length) await hashes.lockNew()
  const standing = new Standing()
  for (const service of services) {
    const there = standing.service(service.environment, service.name)
    await hashesFor({ users: usersOf(service) }, there?.basic_auth, hashes)
  }
  return hashes
}

/** Notes on users of a service whose password is set by hand, and is not yet. */
export function unsetPasswords(wanted: WantedService, there: ServiceRow | undefined): string[] {
  const known = new Set(keptUsers(there?.basic_auth).map(({ username }) => username))
  return usersOf(wanted).flatMap(({ username, password }, index) => {
    if (password !== null || known.has(username)) return []
    const { line } = placeIn(wanted.node, ['basic_auth', 'users', index])
    return [
      `line ${line}: ${username} of service ${wanted.name} has no password yet (sync: false) and cannot sign in: set it by hand`,
    ]
  })
}

function usersOf({ fields }: WantedService): GivenUser[] {
  return (fields.basic_auth as { users: GivenUser[] } | null | undefined)?.users ?? []
}
