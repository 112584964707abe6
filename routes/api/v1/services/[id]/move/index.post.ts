import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { moveService } from '#server/moves/services.ts'
import { MoveInput } from '#server/moves/schema.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'
import { Service } from '#server/services/schema.ts'
import { viewService } from '#server/services/view.ts'

export default defineEndpoint({
  summary: 'Move a service with its disks to another node',
  description:
    'Its program is stopped while its disks are copied, and then runs on the other node; the former volumes are kept for a day. With `from_backup` the newest backups of its disks are restored there instead, for a node that is lost. `move` of the service that is returned says how it goes; if it fails, the service runs on where it was. A service without a disk runs where its `placement` allows, and is not moved.',
  auth: 'token',
  least: 'full',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: MoveInput,
  response: Service,
  errors: ['conflict'],
  handler: ({ params, query, body }) =>
    viewService(moveService(findService(params.id, query.environment), body)),
})
