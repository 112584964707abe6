import { defineEndpoint } from '#server/http/endpoint.ts'
import { patchNode } from '#server/nodes/operations.ts'
import { Node, NodePatch } from '#server/nodes/schema.ts'
import { findNode } from '#server/nodes/store.ts'
import { viewNode } from '#server/nodes/view.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Change a node, drain it or activate it',
  description:
    'A drain answers at once: each instance there is replaced on another node before it stops. What has its data on the node stays and runs, and keeps it `draining`. A drain after which something would have no place is refused, and names it.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  body: NodePatch,
  response: Node,
  errors: ['conflict'],
  handler: ({ params, body }) => viewNode(patchNode(findNode(params.id), body)),
})
