import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import { isLabelled, labelFilter, ownLabels } from './labels.ts'
import { infoOf, type RawInfo, type SwarmInfo } from './swarm-info.ts'
import { nodeOf, type RawNode, type SwarmNode } from './swarm-node.ts'
import { serviceOptions, type SwarmServiceSpec } from './swarm-service.ts'

/** A service or a secret. */
export interface SwarmThing {
  id: string
  name: string
  labels: Record<string, string>
}

/** An engine that leaves ends the tasks of the swarm first. */
const LEAVE_MS = 60_000
/** Without a leader, an engine would think about it for 20 s. */
const NODES_MS = 8_000

/** The engine's part in a swarm (Engine API 1.41), of which this server changes only what has its label. */
export class Swarm {
  readonly #connection: Connection
  readonly #serverId: string

  constructor(connection: Connection, serverId: string) {
    this.#connection = connection
    this.#serverId = serverId
  }

  async info(): Promise<SwarmInfo> {
    const info = await this.#connection.call(
      'asking the engine about its swarm',
      (docker, abortSignal) => docker.info({ abortSignal } as never) as unknown as Promise<RawInfo>,
    )
    return infoOf(info)
  }

  /** Makes the engine the manager of a new swarm; others reach it at `address`. Returns its id there. */
  init(address: string): Promise<string> {
    // It listens everywhere: a swarm that listens on one address does not start once the machine has another.
    const options = { ListenAddr: '0.0.0.0:2377', AdvertiseAddr: address, ForceNewCluster: false, Spec: {} }
    return this.#connection.call('starting a swarm', (docker, abortSignal) =>
      docker.swarmInit({ ...options, abortSignal }),
    ) as Promise<string>
  }

  /** Replaces the token with which workers join by a new one, and returns it. */
  async renewToken(): Promise<string> {
    await this.#connection.call('renewing the token of the swarm', async (docker, abortSignal) => {
      const { Version, Spec } = (await docker.swarmInspect()) as { Version: { Index: number }; Spec: object }
      const _query = { version: Version.Index, rotateWorkerToken: true }
      await docker.swarmUpdate({ _query, _body: Spec, abortSignal })
    })
    const { JoinTokens } = (await this.#connection.call('asking for the token of the swarm', (docker) =>
      docker.swarmInspect(),
    )) as { JoinTokens: { Worker: string } }
    return JoinTokens.Worker
  }

  /** Leaves the swarm; the manager forgets all of it. Does nothing outside of one. */
  async leave(): Promise<void> {
    if ((await this.info()).state === 'inactive') return
    await this.#connection.call(
      'leaving the swarm',
      (docker, abortSignal) => docker.swarmLeave({ force: true, abortSignal }),
      { timeoutMs: LEAVE_MS },
    )
  }

  async nodes(): Promise<SwarmNode[]> {
    const found = (await this.#connection.call(
      'listing the nodes of the swarm',
      (docker, abortSignal) => docker.listNodes({ abortSignal } as object),
      { timeoutMs: NODES_MS },
    )) as RawNode[]
    return found.map(nodeOf)
  }

  /**
   * Makes a node a manager, or a worker again; false when the swarm does not know it, or not as a manager. Throws
   * `runtime_error`.
   */
  async setManager(id: string, isManager: boolean): Promise<boolean> {
    const what = isManager ? 'making a node a manager of the swarm' : 'making a manager of the swarm a worker'
    const done = await this.#connection.find(what, async (docker, abortSignal) => {
      const node = docker.getNode(id)
      const { Version, Spec } = (await node.inspect()) as { Version: { Index: number }; Spec: object }
      const Role = isManager ? 'manager' : 'worker'
      const update = { _query: { version: Version.Index }, _body: { ...Spec, Role }, abortSignal }
      await (node.update(update as never) as unknown as Promise<void>)
      return true
    })
    return done ?? false
  }

  /** Removes a node from the swarm, whether it answers or not. Does nothing when it is not in it. */
  async removeNode(id: string): Promise<void> {
    await this.#connection.find('removing a node from the swarm', (docker, abortSignal) =>
      docker.getNode(id).remove({ force: true, abortSignal } as object),
    )
  }

  /** This server's secrets, without their content, which no engine gives away. */
  async secrets(): Promise<SwarmThing[]> {
    const found = (await this.#connection.call('listing the secrets of the swarm', (docker, abortSignal) =>
      docker.listSecrets({ filters: { label: labelFilter(this.#serverId) }, abortSignal }),
    )) as unknown as RawThing[]
    return found.map(thingOf)
  }

  /** Keeps a secret for services, and returns its id. */
  async createSecret(name: string, content: string, labels: Record<string, string>): Promise<string> {
    const Data = Buffer.from(content).toString('base64')
    const Labels = ownLabels(this.#serverId, labels)
    const answer = (await this.#connection.call('storing a secret in the swarm', (docker, abortSignal) =>
      docker.createSecret({ Name: name, Data, Labels, abortSignal }),
    )) as { id?: string; ID?: string }
    // Engines differ from their documentation here.
    return (answer.ID ?? answer.id)!
  }

  /** Removes a secret. Throws `runtime_error` while a service has it. */
  async removeSecret(id: string): Promise<void> {
    await this.#connection.find('removing a secret from the swarm', (docker, abortSignal) =>
      docker.getSecret(id).remove({ abortSignal }),
    )
  }

  /** This server's services. */
  async services(): Promise<SwarmThing[]> {
    const found = (await this.#connection.call('listing the services of the swarm', (docker, abortSignal) =>
      docker.listServices({ filters: { label: labelFilter(this.#serverId) }, abortSignal } as object),
    )) as unknown as RawThing[]
    return found.map(thingOf)
  }

  /** Creates a service, or changes the one with this name. */
  async provideService(spec: SwarmServiceSpec): Promise<void> {
    const body = serviceOptions(spec, ownLabels(this.#serverId, spec.labels))
    const known = (await this.services()).find(({ name }) => name === spec.name)
    await this.#connection.call(
      `running ${spec.name} in the swarm`,
      async (docker, abortSignal): Promise<unknown> => {
        if (!known) return docker.createService({ ...body, abortSignal } as never)
        const service = docker.getService(known.id)
        const { Version } = (await service.inspect()) as { Version: { Index: number } }
        return service.update({
          _query: { version: Version.Index },
          _body: body,
          abortSignal,
        }) as Promise<unknown>
      },
    )
  }

  /** Removes one of this server's services, if it exists. */
  async removeService(name: string): Promise<void> {
    const known = (await this.services()).find((service) => service.name === name)
    if (!known) return
    await this.#connection.find(`removing ${name} from the swarm`, (docker, abortSignal) =>
      docker.getService(known.id).remove({ abortSignal } as object),
    )
  }

  /** What ended the last task of a service that ended, if none runs now; null when nothing is known. */
  async taskFault(service: string): Promise<string | null> {
    const found = (await this.#connection.call('asking the swarm about a task', (docker, abortSignal) =>
      docker.listTasks({ filters: { service: [service] }, abortSignal }),
    )) as RawTask[]
    if (found.some(({ Status }) => Status.State === 'running')) return null
    const latest = found.toSorted((left, right) => right.CreatedAt.localeCompare(left.CreatedAt))
    return latest.find(({ Status }) => Status.Err)?.Status.Err ?? null
  }

  /** Creates a network that all nodes have, in which containers can be. Does nothing when there is one of this server. */
  async provideOverlay(name: string): Promise<void> {
    const known = await this.#connection.find(`inspecting the network ${name}`, (docker) =>
      docker.getNetwork(name).inspect(),
    )
    if (known && !isLabelled(this.#serverId, known.Labels))
      throw new AppError('runtime_error', `the engine has another network ${name}: remove it`)
    if (known) return
    await this.#connection.call(`creating the network ${name}`, (docker, abortSignal) =>
      docker.createNetwork({
        Name: name,
        Driver: 'overlay',
        Attachable: true,
        CheckDuplicate: true,
        Labels: ownLabels(this.#serverId),
        abortSignal,
      }),
    )
  }

  async removeOverlay(name: string): Promise<void> {
    await this.#connection.find(`removing the network ${name}`, (docker, abortSignal) =>
      docker.getNetwork(name).remove({ abortSignal }),
    )
  }
}

interface RawThing {
  ID: string
  Spec: { Name: string; Labels?: Record<string, string> }
}

interface RawTask {
  CreatedAt: string
  Status: { State: string; Err?: string }
}

function thingOf({ ID, Spec }: RawThing): SwarmThing {
  return { id: ID, name: Spec.Name, labels: Spec.Labels ?? {} }
}
