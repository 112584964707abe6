import { defineEndpoint } from '#server/http/endpoint.ts'
import { useMachines } from '#server/nodes/machines.ts'
import { NodeCheck } from '#server/nodes/schema.ts'
import { findNode } from '#server/nodes/store.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Check whether a node and the others reach each other',
  description:
    'Tries the ports between each pair, full frames of the overlay, and how far the clocks are apart, and says in words what is closed. A node that does not answer is told as failed and not tried; without another node, the answer is `conflict`.',
  auth: 'token',
  least: 'full',
  audit: false,
  params: IdOrName,
  response: NodeCheck,
  errors: ['conflict', 'runtime_error'],
  handler: ({ params }) => useMachines().check(findNode(params.id).id),
})
