import { z } from 'zod'

/** Every cluster has these from the start: one takes no connection, the other is copied into each new database (manual, "Template Databases"). */
const TEMPLATES = ['template0', 'template1']
/** What stands for no role or every role in statements, in quotes too (manual, "GRANT" and "SET ROLE"). */
const NO_ROLES = ['none', 'public']

/** What PostgreSQL takes as a name without quotes (manual, "Identifiers and Key Words"), so that every client does too. */
const Identifier = z
  .string()
  .regex(/^[a-z_][a-z0-9_]{0,62}$/, 'must be 1 to 63 of a-z, 0-9 and _, no digit first')
  .refine((name) => !name.startsWith('pg_'), 'must not start with pg_, which PostgreSQL keeps to itself')

/** The name of a database that is made for a user. */
export const DatabaseName = Identifier.refine(
  (name) => !TEMPLATES.includes(name),
  'must not be a template, of which PostgreSQL makes databases',
)

/** The name of the role that owns it. */
export const RoleName = Identifier.refine(
  (name) => !NO_ROLES.includes(name),
  'must not be none or public, which are no roles for PostgreSQL',
)

/** The nearest to a name of ours that both a database and a role can have. */
export function postgresName(ours: string): string {
  const name = ours.replaceAll('-', '_').replace(/^pg_+/, 'pg')
  return [...TEMPLATES, ...NO_ROLES].includes(name) ? `${name}_db` : name
}
