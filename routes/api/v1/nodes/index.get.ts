import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { Node } from '#server/nodes/schema.ts'
import { listNodes } from '#server/nodes/store.ts'
import { viewNode } from '#server/nodes/view.ts'

export default defineEndpoint({
  summary: 'List the nodes',
  description: "The server's own first, then by name. A server has one until another machine joins.",
  auth: 'token',
  least: 'read',
  response: z.array(Node),
  handler: () => listNodes().map(viewNode),
})
