import { defineEndpoint } from '#server/http/endpoint.ts'
import { Node } from '#server/nodes/schema.ts'
import { findNode } from '#server/nodes/store.ts'
import { viewNode } from '#server/nodes/view.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Read a node',
  auth: 'token',
  least: 'read',
  params: IdOrName,
  response: Node,
  handler: ({ params }) => viewNode(findNode(params.id)),
})
