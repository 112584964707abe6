import { defineEndpoint } from '#server/http/endpoint.ts'
import { cancelJob, findJob } from '#server/jobs/operations.ts'
import { Job, JobRef } from '#server/jobs/schema.ts'
import { viewJob } from '#server/jobs/view.ts'

export default defineEndpoint({
  summary: 'Cancel a job that waits or runs',
  description: 'Its program is killed.',
  auth: 'token',
  least: 'deploy',
  within: 'service',
  params: JobRef,
  response: Job,
  errors: ['conflict'],
  handler: ({ params }) => viewJob(cancelJob(findJob(params.job_id))),
})
