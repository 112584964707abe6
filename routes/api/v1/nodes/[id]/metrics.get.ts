import { defineEndpoint } from '#server/http/endpoint.ts'
import { nodeMetrics } from '#server/nodes/metrics.ts'
import { NodeMetrics } from '#server/nodes/schema.ts'
import { findNode } from '#server/nodes/store.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read what a node and the containers on it are doing',
  description: 'As it was last measured, which happens every 10 s.',
  auth: 'token',
  least: 'read',
  params: IdOrName,
  response: NodeMetrics,
  errors: ['conflict'],
  handler: ({ params }) => nodeMetrics(findNode(params.id)),
})
