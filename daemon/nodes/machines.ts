import { useContext } from '#server/context.ts'
import { AppError } from '#server/errors.ts'
import type { HostFigures, NodeCheck } from '#server/nodes/schema.ts'
import { getNode, hasOtherNodes, ownNodeId } from '#server/nodes/store.ts'
import { Slots } from '#server/work/slots.ts'
import type { Engine, SwarmNode } from '../engine/index.ts'
import type { Task } from '../work/driver.ts'
import { AgentServices } from './agent-service.ts'
import { Checking } from './checking.ts'
import { Departures } from './departures.ts'
import { Entrance } from './entrance.ts'
import { figuresOf } from './figures.ts'
import { removeFormerContainers } from './former.ts'
import type { Ground } from './ground.ts'
import { supplyImage } from './image-supply.ts'
import { Invitations } from './invitations.ts'
import { openAndInvite, type Invitation } from './inviting.ts'
import { Links } from './links.ts'
import { guardMetadataOn } from './metadata.ts'
import { ownNode, OwnSwarm, type Silence } from './own-swarm.ts'
import { Registry } from './registry.ts'
import { Rounds } from './rounds.ts'
import { assertSuitable } from './suitability.ts'
import { Watch } from './watch.ts'

/** How often the nodes are looked at while there are others. */
const PERIOD_MS = 1_000
/** A server of one node looks only when it is woken, which an invitation does. */
const IDLE_MS = 3_600_000

/** The server's machines. On a server of one node nothing of it is started or listens. */
export class Machines {
  readonly #ground: Ground
  readonly #agents: AgentServices
  readonly #registry: Registry
  readonly #invitations = new Invitations()
  readonly #entrance: Entrance
  readonly #links: Links
  readonly #watch: Watch
  readonly #ownSwarm: OwnSwarm
  readonly #departures: Departures
  readonly #rounds: Rounds
  /** Invitations, removals and looks change the same things. */
  readonly #turn = new Slots(1)
  readonly #checking: Checking
  #wake: () => void = () => {}

  constructor(ground: Ground) {
    this.#ground = ground
    this.#agents = new AgentServices(ground.engine)
    this.#registry = new Registry(ground.engine)
    this.#ownSwarm = new OwnSwarm(ground.engine.swarm)
    this.#links = new Links(() => this.#wake())
    this.#entrance = new Entrance({
      tokenDigest: () => this.#invitations.digest(),
      agentImage: (signal) => ground.engine.transfer.save(this.#agents.imageName, signal),
      passToRegistry: (request, response) => this.#registry.pass(request, response),
    })
    const engineOf = (nodeId: string) => this.engineOf(nodeId)
    this.#checking = new Checking({ links: this.#links, agents: this.#agents, engineOf })
    this.#watch = new Watch({
      closeMetadata: async (engine, overlays) =>
        guardMetadataOn(engine, await this.#agents.image(), overlays),
      agents: this.#agents,
      admit: async (nodeId) => {
        await removeFormerContainers(nodeId, engineOf(nodeId), useContext().stopping)
        // Another node that is away does not keep this one from joining.
        return this.#checking.checkAnswering(nodeId)
      },
      nodesChanged: () => this.#rounds.nodesChanged(),
    })
    this.#departures = new Departures({
      ...{ swarm: ground.engine.swarm, agents: this.#agents, links: this.#links },
      ...{ watch: this.#watch, turn: this.#turn, engineOf },
      endEntry: ground.endEntry,
      onGone: () => this.#rounds.settleGone(),
    })
    this.#rounds = new Rounds({
      ...{ ground, agents: this.#agents, registry: this.#registry, invitations: this.#invitations },
      ...{ entrance: this.#entrance, links: this.#links, watch: this.#watch, ownSwarm: this.#ownSwarm },
      departures: this.#departures,
    })
  }

  /** Connects to the nodes and follows how they are. `wake` runs the task at once. */
  task(wake: () => void): Task {
    this.#wake = wake
    const isOn = () => this.#rounds.isOn
    return {
      name: 'nodes',
      get everyMs() {
        return isOn() ? PERIOD_MS : IDLE_MS
      },
      run: async (signal) => {
        if (this.#rounds.isOn && this.#ground.reachByAddress() !== null)
          await this.#turn.run(() => this.#rounds.look(signal), signal)
      },
    }
  }

  /** The engine of a node. Throws `runtime_error` when there is no such node (any more), or it has not joined yet. */
  engineOf(nodeId: string): Engine {
    if (nodeId === ownNodeId()) return this.#ground.engine
    const engine = this.#links.get(nodeId)?.engine
    if (engine) return engine
    const name = getNode(nodeId)?.name
    throw new AppError(
      'runtime_error',
      name === undefined
        ? `there is no node ${nodeId} any more`
        : `the server is not connected to the node ${name} yet`,
    )
  }

  /** Starts everything for other machines at first, and returns how one joins. Throws `conflict`. */
  async invite(asEntry: boolean): Promise<Invitation> {
    await this.recognise()
    // What takes long is done before, so that the watch goes on meanwhile.
    await this.#assertSuitable()
    await this.#agents.image()
    const invitation = await this.#turn.run(async () => {
      await this.#assertSuitable()
      const parts = {
        ...{ swarm: this.#ground.engine.swarm, ownSwarm: this.#ownSwarm, agents: this.#agents },
        ...{ entrance: this.#entrance, invitations: this.#invitations },
        adopt: async () => this.#rounds.adopt(answered(await this.#rounds.members())),
      }
      return openAndInvite(parts, asEntry).finally(() => {
        if (!this.#rounds.isOn) this.stop()
      })
    })
    this.#wake()
    return invitation
  }

  #assertSuitable(): Promise<void> {
    const { engine, reachByAddress } = this.#ground
    return assertSuitable({ engine, reachByAddress: reachByAddress(), swarmId: ownNode().swarm_id })
  }

  /** Makes sure that a node's engine has an image of the own engine. Throws `runtime_error`. */
  async provideImage(
    nodeId: string,
    imageId: string,
    serviceId: string,
    signal?: AbortSignal,
  ): Promise<void> {
    if (nodeId === ownNodeId()) return
    const node = { nodeId, engine: this.engineOf(nodeId) }
    const ways = { registry: this.#registry, entrance: this.#entrance }
    await supplyImage(node, ways, { imageId, ownerId: serviceId, signal })
  }

  /** The id of the agents' image, which the own engine builds at first. Throws `runtime_error`. */
  agentImage(): Promise<string> {
    return this.#agents.image()
  }

  /** Looks at the network between a node and all others; one that does not answer fails. Throws `runtime_error`, `conflict`. */
  check(nodeId: string): Promise<NodeCheck> {
    return this.#checking.check(nodeId)
  }

  /** Makes a node leave and deletes its record; of a lost one, and one that still joins, only the record. Throws `conflict` and `runtime_error`. */
  async remove(nodeId: string, lost: boolean): Promise<void> {
    await this.#departures.remove(nodeId, lost)
  }

  /**
   * Finds out whether the own engine still manages the swarm of the nodes; if not, they are down. On another machine, to which
   * the server was restored, it takes the former one's place. Throws `runtime_error`, and `conflict` when that is not possible.
   */
  async recognise(): Promise<void> {
    await this.#turn.run(() => this.#rounds.members())
  }

  /**
   * Looks at the nodes once, as for a restored server that is not at work yet, which connects to them. Throws `runtime_error`, and
   * `conflict` as `recognise` does.
   */
  async reconnect(): Promise<void> {
    if (!this.#rounds.isOn) return this.recognise()
    await this.#turn.run(() => this.#rounds.look(useContext().stopping))
  }

  /** What the host of another node last said that it uses; null while it says nothing. */
  hostFigures(nodeId: string): HostFigures | null {
    const tunnel = this.#links.get(nodeId)?.tunnel
    return tunnel?.fault === null && tunnel.figures ? figuresOf(tunnel.figures, tunnel.cpuPercent) : null
  }

  /** Removes from the registry, a few times a day, what the own engine no longer has. */
  async cleanRegistry(): Promise<void> {
    if (hasOtherNodes()) await this.#registry.cleanNowAndThen()
  }

  /** Closes everything that is open; nodes and what runs there go on. */
  stop(): void {
    this.#rounds.stop()
  }
}

/** The members of a swarm that answers. Throws `runtime_error` for one that does not. */
function answered(members: SwarmNode[] | Silence | null): SwarmNode[] {
  if (members && 'silence' in members)
    throw new AppError('runtime_error', `the swarm does not answer: ${members.silence}`)
  return members ?? []
}
