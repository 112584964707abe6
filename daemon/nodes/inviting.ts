import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { Engine } from '../engine/index.ts'
import type { AgentServices } from './agent-service.ts'
import { pinOf } from './authority.ts'
import type { Entrance } from './entrance.ts'
import type { Invitations } from './invitations.ts'
import { ownNode, type OwnSwarm } from './own-swarm.ts'
import { addressOfDefaultRoute } from './suitability.ts'

/** How a machine joins. */
export interface Invitation {
  command: string
  token: string
  expires_at: number
  node_port: number
}

/** What is opened for a machine that joins. */
interface Parts {
  swarm: Engine['swarm']
  ownSwarm: OwnSwarm
  agents: AgentServices
  entrance: Entrance
  invitations: Invitations
  /** Records what has joined by an earlier invitation. Returns Swarm's ids of all members. */
  adopt: () => Promise<string[]>
}

/** Starts what is not there yet for other machines, and makes the command with which one joins. Throws `conflict`. */
export async function openAndInvite(parts: Parts, asEntry: boolean): Promise<Invitation> {
  const { swarm, ownSwarm, agents, entrance, invitations, adopt } = parts
  // It may have been removed with the last other node meanwhile.
  await agents.image()
  const address = ownNode().address ?? ownAddress()
  const { certificate } = await entrance.open(address)
  await ownSwarm.begin(address)
  await swarm.provideOverlay(overlayName())
  const swarmToken = await swarm.renewToken()
  // By the earlier token nothing joins any more.
  const joined = await adopt()
  const { token, expiresAt } = invitations.make(Date.now(), asEntry, joined)
  const { nodePort } = useContext().options
  const url = `https://${address}:${nodePort}/join/${token}`
  const command = `curl -fsSk --pinnedpubkey '${pinOf(certificate)}' ${url} | docker load && docker swarm join --token ${swarmToken} ${address}:2377`
  return { command, token: swarmToken, expires_at: expiresAt, node_port: nodePort }
}

/** The network in which the nodes look at each other. */
export function overlayName(): string {
  return `deployer-nodes-${useContext().serverId}`
}

function ownAddress(): string {
  const address = useContext().options.nodeAddress ?? addressOfDefaultRoute()
  if (address !== null) return address
  throw new AppError(
    'conflict',
    'this host has no default route, so it is unknown where other machines reach it: set --node-address',
  )
}
