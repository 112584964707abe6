import { defineEndpoint } from '#server/http/endpoint.ts'
import { findServerBackup } from '#server/server-backups/operations.ts'
import { ServerBackup, ServerBackupPath } from '#server/server-backups/schema.ts'
import { verifyServerBackup } from '#server/server-backups/verify.ts'
import { viewServerBackup } from '#server/server-backups/view.ts'

export default defineEndpoint({
  summary: 'Verify a backup of the server',
  description:
    'Reads its file, or else its copy in the bucket, to the end, compares its checksum, and opens its database. A damaged one says so in `error` and no longer counts as a backup.',
  auth: 'token',
  least: 'full',
  params: ServerBackupPath,
  response: ServerBackup,
  errors: ['conflict', 'io_error'],
  handler: async ({ params }) => viewServerBackup(await verifyServerBackup(findServerBackup(params.id))),
})
