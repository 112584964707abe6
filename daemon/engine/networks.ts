import type Docker from 'dockerode'
import { AppError } from '#server/errors.ts'
import type { Connection } from './connection.ts'
import { statusOf } from './faults.ts'
import { isLabelled, ownLabels } from './labels.ts'
import type { Ledger } from './ledger.ts'

export interface NetworkSpec {
  name: string
  /** IPv4, such as `10.0.0.0/20`. */
  subnet: string
  gateway?: string
  /** The part of the subnet from which the engine allots addresses itself; all of it if absent. */
  range?: string
  /** `bridge` if absent. An overlay spans the nodes of a swarm, whose containers can be joined to it one by one. */
  driver?: 'bridge' | 'overlay'
  labels: Record<string, string>
  /** Whether it has no route out of the host. */
  internal?: boolean
}

/** A network of the engine, whether it is this server's or not. */
export interface NetworkState {
  id: string
  name: string
  driver: string
  /** Its first IPv4 subnet and the gateway of that, if it has one. */
  subnet: string | null
  gateway: string | null
  /** Its IPv4 and IPv6 subnets. */
  subnets: string[]
  internal: boolean
  labels: Record<string, string>
  /** Running containers in it; empty in a list. */
  containers: { id: string; name: string; address: string }[]
}

/** The engine's networks. */
export class Networks {
  readonly #connection: Connection
  readonly #serverId: string
  readonly #ledger: Ledger

  constructor(connection: Connection, serverId: string, ledger: Ledger) {
    this.#connection = connection
    this.#serverId = serverId
    this.#ledger = ledger
  }

  /** Creates a network and returns its id. Throws `runtime_error`, also when the name or the addresses are taken. */
  async create(spec: NetworkSpec): Promise<string> {
    this.#ledger.record('network', spec.name)
    const network = await this.#connection.call(`creating the network ${spec.name}`, (docker, abortSignal) =>
      docker.createNetwork({
        Name: spec.name,
        Driver: spec.driver ?? 'bridge',
        ...(spec.driver === 'overlay' ? { Attachable: true } : {}),
        CheckDuplicate: true,
        Internal: spec.internal ?? false,
        Labels: ownLabels(this.#serverId, spec.labels),
        IPAM: {
          Driver: 'default',
          Config: [
            {
              Subnet: spec.subnet,
              ...(spec.range ? { IPRange: spec.range } : {}),
              ...(spec.gateway ? { Gateway: spec.gateway } : {}),
            },
          ],
        },
        abortSignal,
      }),
    )
    this.#ledger.record('network', spec.name, network.id)
    return network.id
  }

  /** A network by id or name; null when there is none. */
  async inspect(nameOrId: string): Promise<NetworkState | null> {
    const found = await this.#connection.find(
      `inspecting the network ${nameOrId}`,
      (docker, abortSignal) =>
        docker
          .getNetwork(nameOrId)
          .inspect({ abortSignal } as never) as unknown as Promise<Docker.NetworkInspectInfo>,
    )
    return found && stateOf(found)
  }

  /** All networks of the engine, including those of others, whose addresses are taken too. */
  async list(): Promise<NetworkState[]> {
    const found = await this.#connection.call('listing networks', (docker, abortSignal) =>
      docker.listNetworks({ abortSignal } as Docker.NetworkListOptions),
    )
    return found.map(stateOf)
  }

  /**
   * Joins a container to a network, also while it runs, at an address or at any one of those that the engine allots. Does
   * nothing if it is gone. Throws `runtime_error`.
   */
  async connect(network: string, container: string, address?: string): Promise<void> {
    await this.#connection.find(`joining ${container} to the network ${network}`, (docker, abortSignal) =>
      docker.getNetwork(network).connect({
        Container: container,
        ...(address === undefined ? {} : { EndpointConfig: { IPAMConfig: { IPv4Address: address } } }),
        abortSignal,
      } as Docker.NetworkConnectOptions),
    )
  }

  /** Takes a container out of a network, if both exist. Throws `runtime_error`. */
  async disconnect(network: string, container: string): Promise<void> {
    await this.#connection.find(
      `taking ${container} out of the network ${network}`,
      (docker, abortSignal) =>
        docker.getNetwork(network).disconnect({
          Container: container,
          Force: true,
          abortSignal,
        } as never) as unknown as Promise<unknown>,
    )
  }

  /** The names of the networks that this server has created. */
  names(): string[] {
    return this.#ledger.list('network').map(({ name }) => name)
  }

  /** Removes one of this server's networks, if it exists. Throws `runtime_error` while containers are in it. */
  async remove(name: string): Promise<void> {
    const recorded = this.#ledger.find('network', name)
    // If this server was restored from older data, the network may have been created again since, with another id.
    const found = await this.inspect(name)
    const isOwn = found && (recorded?.engine_id === found.id || isLabelled(this.#serverId, found.labels))
    // The network is gone; another program's may have its name now.
    if (!found || (recorded && recorded.engine_id !== null && !isOwn))
      return this.#ledger.forget('network', name)
    if (!recorded || !isOwn) {
      throw new AppError(
        'runtime_error',
        `the network ${found.name} was not created by this server and is left alone`,
      )
    }
    // Podman would remove it and leave the containers without a network.
    const [first] = found.containers
    if (first)
      throw new AppError(
        'runtime_error',
        `the network ${found.name} is in use by the container ${first.name}`,
      )
    await this.#connection.call(`removing the network ${found.name}`, async (docker, abortSignal) => {
      try {
        await docker.getNetwork(found.id).remove({ abortSignal })
      } catch (error) {
        if (statusOf(error) !== 404) throw error
      }
    })
    this.#ledger.forget('network', name)
  }
}

function stateOf(found: Docker.NetworkInspectInfo): NetworkState {
  const v4 = found.IPAM?.Config?.find(({ Subnet }) => Subnet?.includes('.'))
  const entries = Object.entries(found.Containers ?? {}) as [string, { Name: string; IPv4Address: string }][]
  // An overlay has such an entry on each node, which is not a container.
  const containers = entries.filter(([, { Name }]) => Name !== `${found.Name}-endpoint`)
  return {
    id: found.Id,
    name: found.Name,
    driver: found.Driver,
    subnet: v4?.Subnet ?? null,
    gateway: v4?.Gateway ?? null,
    subnets: (found.IPAM?.Config ?? []).flatMap(({ Subnet }) => (Subnet ? [Subnet] : [])),
    internal: found.Internal,
    labels: found.Labels ?? {},
    containers: containers.map(([id, { Name, IPv4Address }]) => ({
      id,
      name: Name,
      address: IPv4Address.split('/')[0]!,
    })),
  }
}
