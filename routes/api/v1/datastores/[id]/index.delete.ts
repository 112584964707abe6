import { z } from 'zod'
import { removedDatastore } from '#daemon/work/settled.ts'
import { deleteDatastore, findDatastore } from '#server/datastores/operations.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment, QueryBoolean } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Delete a datastore with its data',
  description:
    "Its backups are deleted too. Without `force`, refused while services' variables refer to it, while it is upgraded, and while another datastore is filled from one of its backups.",
  auth: 'token',
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, force: QueryBoolean }),
  errors: ['conflict', 'runtime_error'],
  async handler({ params, query }) {
    const datastore = findDatastore(params.id, query.environment)
    deleteDatastore(datastore, query.force)
    await removedDatastore(datastore.id)
  },
})
