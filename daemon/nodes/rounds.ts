import { announceNode } from '#server/changes.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { hasOtherNodes, listNodes, ownNodeId, type NodeRow } from '#server/nodes/store.ts'
import type { SwarmNode } from '../engine/index.ts'
import { runEach } from '../work/each.ts'
import type { AgentServices } from './agent-service.ts'
import type { Departures } from './departures.ts'
import type { Entrance } from './entrance.ts'
import type { Ground } from './ground.ts'
import type { Invitations } from './invitations.ts'
import { overlayName } from './inviting.ts'
import type { Links } from './links.ts'
import { Managers } from './managers.ts'
import { ownNode, type OwnSwarm, type Silence } from './own-swarm.ts'
import type { Registry } from './registry.ts'
import type { Watch } from './watch.ts'

const log = logger('nodes')

/** Why the other nodes are down when the own engine does not manage their swarm any more. */
const EXPELLED =
  'the server is no longer in the swarm that it shared with this node: remove it as lost, and let it join again'

interface Parts {
  ground: Ground
  agents: AgentServices
  registry: Registry
  invitations: Invitations
  entrance: Entrance
  links: Links
  watch: Watch
  ownSwarm: OwnSwarm
  departures: Departures
}

/** What is done with the nodes again and again. Whoever calls it has the turn. */
export class Rounds {
  readonly #parts: Parts
  readonly #managers: Managers

  constructor(parts: Parts) {
    this.#parts = parts
    this.#managers = new Managers(parts.ground.engine.swarm)
  }

  /** Whether there are other nodes, or one may join. */
  get #isNeeded(): boolean {
    return hasOtherNodes() || this.#parts.invitations.isOpen
  }

  /** Whether anything for other nodes is started, or must be. */
  get isOn(): boolean {
    return this.#isNeeded || ownNode().address !== null
  }

  /** Looks at the nodes once, and does what follows from it. */
  async look(signal: AbortSignal): Promise<void> {
    const members = await this.members()
    if (members && 'silence' in members) return this.#lookWithout(members.silence, signal)
    if (this.#parts.invitations.isOpen && this.#parts.invitations.digest() === null) {
      if (members) await this.#parts.ground.engine.swarm.renewToken()
      this.#parts.invitations.forget()
    }
    if (!this.#isNeeded) return this.#endAll()
    if (!members) return
    this.adopt(members)
    await this.#managers.settle(members)
    await this.#settleNodes((row) => members.find(({ id }) => id === row.swarm_id), signal)
  }

  /** Looks at the nodes while the swarm says nothing: by the tunnels to those that are known. */
  async #lookWithout(silence: string, signal: AbortSignal): Promise<void> {
    this.#managers.noteSilence(silence)
    await this.#settleNodes(() => null, signal)
  }

  async #settleNodes(
    memberOf: (row: NodeRow) => SwarmNode | undefined | null,
    signal: AbortSignal,
  ): Promise<void> {
    const identity = await this.#parts.entrance.open(ownNode().address!)
    const others = listNodes().filter(
      ({ id, is_own, address }) => is_own === 0 && address !== null && !this.#parts.departures.has(id),
    )
    await runEach(
      others.map((row) => async () => {
        const link = this.#parts.links.provide({ id: row.id, address: row.address! }, identity)
        await this.#parts.watch.settle(row, memberOf(row), link, signal)
      }),
    )
  }

  /** Records what has joined, as what it was invited as. Returns Swarm's ids of all members. */
  adopt(members: readonly SwarmNode[]): string[] {
    const isForEntry = (swarmId: string) => this.#parts.invitations.isForEntry(swarmId)
    if (this.#parts.watch.adopt(members, ownNode(), isForEntry)) this.#parts.invitations.use()
    return members.map(({ id }) => id)
  }

  /** The members of the swarm; null without one, or when the own engine does not manage it any more. */
  async members(): Promise<SwarmNode[] | Silence | null> {
    const before = ownNode().swarm_id
    const members = await this.#parts.ownSwarm.members()
    // What is open has the certificate and address of before.
    if (before !== null && ownNode().swarm_id !== before) this.stop()
    if (members !== 'expelled') return members
    this.#parts.watch.loseAll(EXPELLED)
    announceNode(ownNodeId())
    return null
  }

  /** What follows when a node is gone. */
  async settleGone(): Promise<void> {
    await this.nodesChanged()
    if (!this.#isNeeded) await this.#endAll()
  }

  /** What is left of networks ends with the swarm, or is removed by the task that keeps them. */
  nodesChanged(): Promise<void> {
    return this.#parts.ground
      .nodesChanged()
      .catch((error: unknown) => log.warn('networks could not be changed yet', { error: messageOf(error) }))
  }

  /** Makes the server single again, without restarting what runs. The task tries again if it fails. */
  async #endAll(): Promise<void> {
    this.stop()
    this.#parts.invitations.forget()
    const { swarm, images } = this.#parts.ground.engine
    await this.#parts.registry.remove()
    await swarm.removeOverlay(overlayName()).catch((error: unknown) =>
      // It ends with the swarm.
      log.debug('the network of all nodes was not removed', { error: messageOf(error) }),
    )
    await this.#parts.ownSwarm.leave()
    await images.remove(this.#parts.agents.imageName)
    this.#parts.agents.forget()
    announceNode(ownNodeId())
  }

  /** Closes everything that is open; nodes and what runs there go on. */
  stop(): void {
    this.#parts.links.close()
    this.#parts.entrance.close()
  }
}
