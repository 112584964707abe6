import { defineEndpoint } from '#server/http/endpoint.ts'
import { patchNode } from '#server/nodes/operations.ts'
import { Node, NodePatch } from '#server/nodes/schema.ts'
import { findNode } from '#server/nodes/store.ts'
import { viewNode } from '#server/nodes/view.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Change a node, drain it or activate it, or make it an entry',
  description:
    'A drain answers at once: each instance there is replaced on another node before it stops. What has its data on the node stays and runs, and keeps it `draining`. A drain after which something would have no place is refused, and names it. With `entry`, a node that is `ready` serves requests too; `reason` says why it does not yet, or by which routes. That is refused while the server itself serves on the loopback alone, and beyond 13 nodes and entries together. False removes what it had for that, once the node answers.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  body: NodePatch,
  response: Node,
  errors: ['conflict'],
  handler: ({ params, body }) => viewNode(patchNode(findNode(params.id), body)),
})
