import { defineEndpoint } from '#server/http/endpoint.ts'
import { useMachines } from '#server/nodes/machines.ts'
import { assertRemovable } from '#server/nodes/operations.ts'
import { NodeRemoval } from '#server/nodes/schema.ts'
import { findNode } from '#server/nodes/store.ts'
import { IdOrName } from '#server/schema.ts'

export default defineEndpoint({
  summary: 'Remove a node',
  description:
    'It must be `drained`; if it is an entry, that ends first. Its engine then leaves, and replaced data that was kept there for a day is removed. With `lost`, it must be `down`: what has its data there becomes unavailable, and nothing starts a second copy by itself. One that is still `joining` and carries nothing is only forgotten: run `docker swarm leave` on it before it joins again. Removing the last other node makes the server single again.',
  auth: 'token',
  least: 'full',
  params: IdOrName,
  query: NodeRemoval,
  errors: ['conflict', 'runtime_error'],
  async handler({ params, query }) {
    const node = findNode(params.id)
    assertRemovable(node, query.lost)
    await useMachines().remove(node.id, query.lost)
  },
})
