import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment, ListLimit } from '#server/http/query.ts'
import { jobsOf } from '#server/jobs/operations.ts'
import { Job } from '#server/jobs/schema.ts'
import { viewJob } from '#server/jobs/view.ts'
import { IdOrName } from '#server/schema.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'List the jobs of a service, newest first',
  description: 'Includes runs of a cron job and one-off commands.',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: IdOrName,
  query: z.strictObject({ ...InEnvironment.shape, limit: ListLimit }),
  response: z.array(Job),
  handler: ({ params, query }) => jobsOf(findService(params.id, query.environment), query.limit).map(viewJob),
})
