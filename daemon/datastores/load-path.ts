/** A schema that nobody has: it marks what is set for the time of a load alone. */
const MARK = 'deployer_load'
/** What a database is asked by that was told nothing (manual, "search_path"). */
const DEFAULT_PATH = "'$user', 'public'"
/** `ALTER ROUTINE` and `prokind` are there from major 11 on; older ones are loaded as they are. */
const SINCE = 110_000

/**
 * Statements for psql that have the functions of a database find what they name without a schema, by the search path that
 * its settings give: the session of pg_restore has none, and whatever calls such a function in a load (an index, a check, a
 * materialized view) would fail. `returnPath` takes it back.
 */
export function lendPath(settings: string): string {
  const path = /^ALTER DATABASE .* SET search_path TO (.+);$/m.exec(settings)?.[1] ?? DEFAULT_PATH
  return forRoutines(
    `SET search_path TO ${path}, '${MARK}'`,
    `NOT EXISTS (SELECT FROM unnest(proconfig) AS setting WHERE setting LIKE 'search_path=%')`,
  )
}

/** Statements for psql that leave the functions of a database as they were before `lendPath`. */
export function returnPath(): string {
  return forRoutines('RESET search_path', `proconfig::text LIKE '%${MARK}%'`)
}

function forRoutines(change: string, condition: string): string {
  // Event triggers of the database are for what its users do.
  return `SET session_replication_role = replica;
SELECT :SERVER_VERSION_NUM >= ${SINCE} AS is_known \\gset
\\if :is_known
SELECT format('ALTER ROUTINE %s %s', pg_proc.oid::regprocedure, $change$${change}$change$)
  FROM pg_proc JOIN pg_language ON pg_language.oid = prolang
  WHERE lanname NOT IN ('c', 'internal') AND prokind <> 'a' AND ${condition}
  AND pronamespace NOT IN ('pg_catalog'::regnamespace, 'information_schema'::regnamespace) \\gexec
\\endif
`
}
