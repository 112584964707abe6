import { timestamp } from '#server/clock.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { useMachines } from '#server/nodes/machines.ts'
import { assertInvitable } from '#server/nodes/operations.ts'
import { NodeInput, NodeInvitation } from '#server/nodes/schema.ts'
import { assertUnfenced } from '#server/restore/fence.ts'

export default defineEndpoint({
  summary: 'Let another machine join',
  description:
    'Answers a command to run on the new machine, which needs a container engine. It ends an earlier one that was not used. With the role `entry`, the machine serves requests too once it is ready. Between the machines, TCP 2377, 7946 and `node_port` and UDP 7946 and 4789 must be open. A refusal says what keeps this server from having another node, and changes nothing.',
  auth: 'token',
  least: 'full',
  audit: 'node.invited',
  status: 201,
  body: NodeInput,
  response: NodeInvitation,
  errors: ['conflict', 'runtime_error'],
  async handler({ body }) {
    assertUnfenced()
    assertInvitable(body)
    const { expires_at, ...invitation } = await useMachines().invite(body.role === 'entry')
    return { ...invitation, expires_at: timestamp(expires_at) }
  },
})
