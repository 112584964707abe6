import { z } from 'zod'
import { findDeploy } from '#server/deploys/operations.ts'
import { DeployRef } from '#server/deploys/schema.ts'
import { IN_PROGRESS } from '#server/deploys/states.ts'
import { getDeploy } from '#server/deploys/store.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { eventStream, sendEvents } from '#server/http/event-stream.ts'
import { logEvents } from '#server/http/log-events.ts'
import { QueryBoolean } from '#server/http/query.ts'
import { isOpen, readLog } from '#server/logs/files.ts'

export default defineEndpoint({
  summary: 'Read the build and deploy log',
  auth: 'token',
  least: 'read',
  within: 'service',
  params: DeployRef,
  query: z.strictObject({ follow: QueryBoolean }),
  response: eventStream(
    'Events `log` with a LogLine, whose `step` is the step that it belongs to; `step` with a DeployStep whenever one begins and ends; then `end`, with `follow` when the deploy is complete',
  ),
  async handler({ event, params, query }) {
    const { id } = findDeploy(params.deploy_id)
    const unfinished = () => {
      const deploy = getDeploy(id)
      return query.follow && deploy !== undefined && (IN_PROGRESS.includes(deploy.status) || isOpen(id))
    }
    await sendEvents(event, async function* (signal) {
      for await (const block of readLog(id, unfinished, signal)) yield logEvents(block)
      if (getDeploy(id) !== undefined) yield { event: 'end' }
    })
  },
})
