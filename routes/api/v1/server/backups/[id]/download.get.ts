import { assertVerified } from '#server/accounts/second-factors/verified.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { sendFile } from '#server/http/file.ts'
import { serverBackupDownload } from '#server/server-backups/download.ts'
import { findServerBackup } from '#server/server-backups/operations.ts'
import { ServerBackupPath } from '#server/server-backups/schema.ts'

export default defineEndpoint({
  summary: 'Download a backup of the server',
  description:
    'It holds everything the server knows, including what tokens may not manage, so a session is needed. Continue an interrupted download with `Range`; send its `ETag` as `If-Range`.',
  auth: 'session',
  audit: 'server_backup.downloaded',
  least: 'full',
  params: ServerBackupPath,
  response: {
    contentType: 'application/octet-stream',
    description: 'A `.tar.gz`, sealed with age if `encrypted`',
    ranges: true,
  },
  errors: ['conflict', 'io_error', 'second_factor_required'],
  handler({ event, principal, params }) {
    assertVerified(principal)
    return sendFile(event, serverBackupDownload(findServerBackup(params.id)))
  },
})
