import type { NodeRow } from '#server/nodes/store.ts'
import type { SwarmNode } from '../engine/index.ts'

/** What is known of a node at a moment. */
export interface Signs {
  /** What the swarm says; undefined when it does not know the node, null while it does not answer. */
  member: Pick<SwarmNode, 'state' | 'message'> | undefined | null
  /** Why its agent does not answer; null while it does. */
  fault: string | null
  /** Why the swarm does not run its agent; null when it does. */
  agentFault: string | null
  /** What is wrong between it and the other nodes; null until that was looked at. */
  networkFaults: string[] | null
  /** Why containers there can reach metadata addresses; null if they cannot, undefined until that was seen to. */
  metadataFault: string | null | undefined
}

type Known = Pick<NodeRow, 'status' | 'reason'>

/** What a machine says about itself is shown, but not all that it may say. */
const MAX_REASON_CHARACTERS = 300

/** The status of a node and its reason. One that has never been ready is only once nothing is wrong with its network. */
export function judge(before: Known & Pick<NodeRow, 'joined_at'>, signs: Signs): Known {
  const { status, reason } = judged(before, signs)
  return { status, reason: reason && shortened(reason) }
}

function shortened(text: string): string {
  return text.length <= MAX_REASON_CHARACTERS ? text : `${text.slice(0, MAX_REASON_CHARACTERS - 1)}…`
}

function judged(
  before: Known & Pick<NodeRow, 'joined_at'>,
  { member, fault, agentFault, networkFaults, metadataFault }: Signs,
): Known {
  const isJoining = before.joined_at === null
  // Without the swarm, a node that does not answer may well run.
  if (member === null && before.status === 'down' && fault !== null) return before
  if (member === undefined)
    return { status: 'down', reason: 'it is no longer in the swarm: remove it, and let it join again' }
  if (member?.state === 'down')
    return {
      status: 'down',
      reason: `its engine does not answer${member.message ? ` (${member.message})` : ''}`,
    }
  if (fault !== null && isJoining)
    return {
      status: 'joining',
      reason:
        agentFault === null ? `waiting for its agent (${fault})` : `its agent does not start: ${agentFault}`,
    }
  if (fault !== null)
    return { status: 'unreachable', reason: `its agent does not answer the server (${fault})` }
  // A fault of the network later on does not take away a node that answers: its instances are probed.
  if (!isJoining) {
    const known = before.status === 'ready' ? before.reason : null
    return { status: 'ready', reason: metadataFault === undefined ? known : metadataFault }
  }
  // Before the first container starts there.
  if (networkFaults === null || metadataFault === undefined)
    return { status: 'joining', reason: 'looking at the network between the nodes' }
  return networkFaults.length === 0
    ? { status: 'ready', reason: metadataFault }
    : { status: 'joining', reason: networkFaults.join('; ') }
}
