import { defineEndpoint } from '#server/http/endpoint.ts'
import { findJob } from '#server/jobs/operations.ts'
import { Job, JobRef } from '#server/jobs/schema.ts'
import { viewJob } from '#server/jobs/view.ts'

export default defineEndpoint({
  summary: 'Read a job',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: JobRef,
  response: Job,
  handler: ({ params }) => viewJob(findJob(params.job_id)),
})
