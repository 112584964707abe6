import { DiscardInput, Discarded } from '#server/deploys/comparison-schema.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { InEnvironment } from '#server/http/query.ts'
import { IdOrName } from '#server/schema.ts'
import { discardChanges } from '#server/services/discard.ts'
import { findService } from '#server/services/operations.ts'

export default defineEndpoint({
  summary: 'Put what is saved of a service back to what is live',
  description:
    "Settings, own variables, links to env groups and own secret files become those of the live deploy, in one step: those that the body names, or all if it has no field. A name that has not changed is left alone. What cannot be put back, such as a change inside an env group, stays and is in the answer's `kept`.",
  auth: 'token',
  audit: 'service.changes_discarded',
  changes: ({ discarded }) => discarded,
  least: 'full',
  within: 'service',
  params: IdOrName,
  query: InEnvironment,
  body: DiscardInput,
  response: Discarded,
  errors: ['conflict'],
  handler({ event, params, query, body }) {
    const answer = discardChanges(findService(params.id, query.environment), body)
    event.context.changedNothing = answer.discarded.length === 0
    return answer
  },
})
