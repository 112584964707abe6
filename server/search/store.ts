import { useDatabase } from '../context.ts'
import { SEARCH_KINDS, type SearchHit, type SearchKind } from './schema.ts'

/** Of each kind; another word finds the rest. */
const MAX_OF_KIND = 10

interface Row {
  id: string | null
  name: string
  holder_kind: 'service' | 'env_group' | null
  holder_id: string | null
  holder_name: string | null
  environment: string | null
}

const NO_HOLDER = 'NULL AS holder_kind, NULL AS holder_id, NULL AS holder_name'
const PLACED = 'JOIN environments ON environments.id = environment_id'
const OF_SERVICE = `'service' AS holder_kind, services.id AS holder_id, services.name AS holder_name, environments.name AS environment`

/** What belongs to the server as a whole, in a table with ids. */
function alone(table: string, name = 'name'): string {
  return `SELECT id, ${name} AS name, ${NO_HOLDER}, NULL AS environment FROM ${table}`
}

/** What is in an environment, in a table with ids and names. */
function placed(table: string): string {
  return `SELECT ${table}.id, ${table}.name, ${NO_HOLDER}, environments.name AS environment FROM ${table} ${PLACED}`
}

/** Where the names of each kind are. */
const NAMES: Record<SearchKind, string> = {
  service: placed('services'),
  datastore: placed('datastores'),
  environment: alone('environments'),
  env_group: alone('env_groups'),
  variable: `SELECT NULL AS id, key AS name, ${OF_SERVICE}
    FROM service_variables JOIN services ON services.id = service_id ${PLACED}
    UNION ALL
    SELECT NULL, key, 'env_group', env_groups.id, env_groups.name, NULL
    FROM env_group_variables JOIN env_groups ON env_groups.id = group_id`,
  domain: `${alone('domains')}
    UNION ALL
    SELECT NULL, host.value, ${OF_SERVICE} FROM services ${PLACED}, json_each(services.custom_domains) AS host`,
  redirect: alone('redirect_hosts', 'host'),
  registry_credential: alone('registry_credentials'),
  blueprint: alone('blueprints'),
  notification: alone('notifications'),
  log_drain: alone('log_drains'),
  node: alone('nodes'),
}

/**
 * What has all these words in its name, in that of what it belongs to, or in that of its environment, at most 10 of each
 * kind, those first whose whole name is one of the words. Only names: no value is read.
 */
export function findByName(query: string): SearchHit[] {
  // SQLite's lower() knows ASCII alone.
  const words = query.replaceAll(/[A-Z]+/g, (letters) => letters.toLowerCase()).split(/\s+/)
  return SEARCH_KINDS.flatMap((kind) =>
    useDatabase()
      .all<Row>(
        `SELECT * FROM (${NAMES[kind]})
         WHERE NOT EXISTS (
           SELECT 1 FROM json_each(?1) AS word
           WHERE instr(lower(concat_ws(' ', name, holder_name, environment)), word.value) = 0)
         ORDER BY lower(name) NOT IN (SELECT value FROM json_each(?1)), name, holder_name, environment LIMIT ?2`,
        JSON.stringify(words),
        MAX_OF_KIND,
      )
      .map((row) => hitOf(kind, row)),
  )
}

function hitOf(kind: SearchKind, { holder_kind, holder_id, holder_name, ...row }: Row): SearchHit {
  const holder = holder_kind === null ? null : { kind: holder_kind, id: holder_id!, name: holder_name! }
  return { kind, ...row, holder }
}
