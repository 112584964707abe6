import { z } from 'zod'
import { reachable } from '../access/shown.ts'
import { useDatabase } from '../context.ts'
import type { ServiceRow } from '../services/store.ts'

const Related = reachable(
  z.object({
    kind: z.enum(['service', 'datastore']),
    id: z.string().meta({ examples: ['dbs-4f1d0c9a7b3e5d2f6a80'] }),
    name: z.string().meta({ examples: ['db'] }),
    keys: z.array(z.string()).meta({
      description: 'The variables of the reference',
      examples: [['DATABASE_URL']],
    }),
  }),
  (related, reach) => (reach[related.kind](related.id) ? related : undefined),
)
type Related = z.infer<typeof Related>

export const ServiceRelations = z
  .object({
    uses: z.array(Related),
    used_by: z.array(Related),
  })
  .meta({
    id: 'ServiceRelations',
    description: 'What a service refers to in its variables, and what refers to it',
  })
export type ServiceRelations = z.infer<typeof ServiceRelations>

/**
 * The references that take effect in the services of an environment: of their own variables, and of those of linked env groups
 * that nothing overrides.
 */
const EFFECTIVE = `
  SELECT services.id AS service_id, held.kind, held.name, held.key
  FROM services JOIN variable_references AS held ON held.holder = services.id
  WHERE services.environment_id = ?1
  UNION
  SELECT services.id, held.kind, held.name, held.key
  FROM services
  JOIN env_group_links AS link ON link.service_id = services.id
  JOIN variable_references AS held ON held.holder = link.group_id
  WHERE services.environment_id = ?1 AND services.deleting = 0
    AND NOT EXISTS (SELECT 1 FROM service_variables AS own WHERE own.service_id = services.id AND own.key = held.key)
    AND NOT EXISTS (
      SELECT 1 FROM env_group_links AS later JOIN env_group_variables AS its ON its.group_id = later.group_id
      WHERE later.service_id = services.id AND later.position > link.position AND its.key = held.key)`

type Row = Omit<Related, 'keys'> & { key: string }

/** What a service uses, and what uses it, by name. What does not exist is left out. */
export function relationsOf({ id, name, environment_id }: ServiceRow): ServiceRelations {
  const uses = useDatabase().all<Row>(
    `WITH effective AS (${EFFECTIVE})
     SELECT effective.kind, coalesce(services.id, datastores.id) AS id, effective.name, effective.key
     FROM effective
     LEFT JOIN services ON effective.kind = 'service' AND services.environment_id = ?1 AND services.name = effective.name
     LEFT JOIN datastores ON effective.kind = 'datastore' AND datastores.environment_id = ?1 AND datastores.name = effective.name
     WHERE effective.service_id = ?2 AND coalesce(services.id, datastores.id) IS NOT NULL AND services.id IS NOT ?2
     ORDER BY effective.kind, effective.name, effective.key`,
    environment_id,
    id,
  )
  const usedBy = useDatabase().all<Row>(
    `WITH effective AS (${EFFECTIVE})
     SELECT 'service' AS kind, services.id, services.name, effective.key
     FROM effective JOIN services ON services.id = effective.service_id
     WHERE effective.kind = 'service' AND effective.name = ?2 AND services.id <> ?3
     ORDER BY services.name, effective.key`,
    environment_id,
    name,
    id,
  )
  return { uses: gathered(uses), used_by: gathered(usedBy) }
}

/** One entry for each thing, with all of its variables. */
function gathered(rows: readonly Row[]): Related[] {
  const byId = Map.groupBy(rows, ({ id }) => id)
  return [...byId.values()].map((found) => {
    const { kind, id, name } = found[0]!
    return { kind, id, name, keys: found.map(({ key }) => key) }
  })
}
