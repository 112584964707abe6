import { z } from 'zod'
import { timestamp } from '#server/clock.ts'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { useMachines } from '#server/nodes/machines.ts'
import { assertInvitable } from '#server/nodes/operations.ts'
import { namesOfManagers, setManagers } from '#server/nodes/managers.ts'
import { Node, NodeInput, NodeInvitation } from '#server/nodes/schema.ts'
import { viewNode } from '#server/nodes/view.ts'
import { assertUnfenced } from '#server/restore/fence.ts'

const Nodes = z.array(Node)

export default defineEndpoint({
  summary: 'Let another machine join, or set how many managers there are',
  description:
    'Answers a command to run on the new machine, which needs a container engine. It ends an earlier one that was not used. With the role `entry`, the machine serves requests too once it is ready. Between the machines, TCP 2377, 7946 and `node_port` and UDP 7946 and 4789 must be open. A refusal says what keeps this server from having another node, and changes nothing. With `managers`, no machine is invited: `3` makes two nodes that are ready managers besides the one of the server, and `1` goes back. Other `nodes` than before replace them, the new ones first, so that a manager that is lost can be replaced. What is left to do is done by the server, also after a restart: `manager` of the nodes tells how far it is.',
  auth: 'token',
  least: 'full',
  audit: 'node.invited',
  auditedAs: ({ managers }) => (managers === undefined ? null : 'node.managers_set'),
  changes: (reply) => (Array.isArray(reply) ? [`managers: ${namesOfManagers().join(', ')}`] : null),
  existing: { description: 'The nodes, of which other ones are to be managers', answer: Nodes },
  status: 201,
  body: NodeInput,
  response: z.union([NodeInvitation, Nodes]),
  errors: ['conflict', 'runtime_error'],
  async handler({ body, event }) {
    assertUnfenced()
    if (body.managers !== undefined) {
      event.context.existed = true
      return setManagers(body.managers, body.nodes).map(viewNode)
    }
    assertInvitable(body)
    const { expires_at, ...invitation } = await useMachines().invite(body.role === 'entry')
    return { ...invitation, expires_at: timestamp(expires_at) }
  },
})
