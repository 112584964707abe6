import { z } from 'zod'

/** In every cluster: the first accepts no connections, the second is copied for new ones (manual, "Template Databases"). */
const TEMPLATES = ['template0', 'template1']
/** Words that mean no role or every role in statements, even in quotes (manual, "GRANT" and "SET ROLE"). */
const RESERVED_ROLES = ['none', 'public']

/** A name that PostgreSQL, and so every client, accepts without quotes (manual, "Identifiers and Key Words"). */
const Identifier = z
  .string()
  .regex(
    /^[a-z_][a-z0-9_]{0,62}$/,
    'must be 1 to 63 characters of a-z, 0-9 and _, and not begin with a digit',
  )
  .refine((name) => !name.startsWith('pg_'), 'must not start with pg_, which PostgreSQL reserves for itself')

/** The name of a database that is created for a user. */
export const DatabaseName = Identifier.refine(
  (name) => !TEMPLATES.includes(name),
  'must not be template0 or template1, from which PostgreSQL creates databases',
)

/** The name of the role that owns it. */
export const RoleName = Identifier.refine(
  (name) => !RESERVED_ROLES.includes(name),
  'must not be none or public, which PostgreSQL does not allow as roles',
)

/** The closest name to a datastore's that both a database and a role can have. */
export function postgresName(datastoreName: string): string {
  const name = datastoreName.replaceAll('-', '_').replace(/^pg_+/, 'pg')
  return [...TEMPLATES, ...RESERVED_ROLES].includes(name) ? `${name}_db` : name
}
