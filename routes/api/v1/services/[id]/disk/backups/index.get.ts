import { z } from 'zod'
import { listBackups } from '#server/backups/store.ts'
import { DiskBackup } from '#server/disks/schema.ts'
import { viewDiskBackup } from '#server/disks/view.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: "List the backups of a service's disks, newest first",
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  response: z.array(DiskBackup),
  handler: ({ params, query }) =>
    listBackups(findService(params.id, query.environment).id).map(viewDiskBackup),
})
