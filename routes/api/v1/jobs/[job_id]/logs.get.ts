import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, sendEvents } from '#server/http/event-stream.ts'
import { logEvents } from '#server/http/log-events.ts'
import { QueryBoolean } from '#server/http/query.ts'
import { findJob } from '#server/jobs/operations.ts'
import { JobRef } from '#server/jobs/schema.ts'
import { JOB_IN_PROGRESS } from '#server/jobs/states.ts'
import { jobStatus } from '#server/jobs/store.ts'
import { isOpen, readLog } from '#server/logs/files.ts'

export default defineEndpoint({
  summary: 'Read the output of a job',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: JobRef,
  query: z.strictObject({ follow: QueryBoolean }),
  response: eventStream('Events `log` with a LogLine, then `end`; with `follow` when the job is complete'),
  async handler({ event, params, query }) {
    const { id } = findJob(params.job_id)
    const unfinished = () => {
      const status = jobStatus(id)
      return query.follow && status !== undefined && (JOB_IN_PROGRESS.includes(status) || isOpen(id))
    }
    await sendEvents(event, async function* (signal) {
      for await (const block of readLog(id, unfinished, signal)) yield logEvents(block)
      if (jobStatus(id) !== undefined) yield { event: 'end' }
    })
  },
})
