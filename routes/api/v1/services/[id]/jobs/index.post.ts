import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { requestJob } from '#server/jobs/operations.ts'
import { Job, JobInput } from '#server/jobs/schema.ts'
import { viewJob } from '#server/jobs/view.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Run a command in a new container from the live image',
  description:
    "Without a command, a cron job runs its own; while one is running, this one waits, and a further one is refused. It runs with the service's variables, network and limits, without its disk.",
  auth: 'token',
  least: 'deploy',
  within: 'service',
  status: 202,
  params: IdOrName,
  query: InEnvironment,
  body: JobInput,
  response: Job,
  errors: ['conflict'],
  handler: ({ params, query, body }) => viewJob(requestJob(findService(params.id, query.environment), body)),
})
