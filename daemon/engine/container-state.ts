import type Docker from 'dockerode'

/** 128 plus the number of SIGKILL, as shells and the engine report it. */
export const KILLED = 137
/** How long after a program's end the engine may still learn that it was killed for memory. */
export const OOM_REPORTED_MS = 500

/** What the engine currently says about a container. */
export interface ContainerState {
  id: string
  name: string
  /** The id of its image. */
  image: string
  labels: Record<string, string>
  status: string
  running: boolean
  /** Frozen from outside: it runs, but does nothing. */
  paused: boolean
  /** The exit code of its last run; null while it runs and if it never did. */
  exitCode: number | null
  /** Whether the kernel killed one of its processes for memory; always false for a running container in a list. */
  oomKilled: boolean
  /** The engine's message about why it did not start. */
  error: string | null
  /** Its IPv4 address; null while it does not run. */
  address: string | null
  /** The networks it is in: the engine's id of each, and the address that was requested there. */
  networks: { id: string; address: string | null }[]
  /** The settings that can be changed after its creation, as a text to compare; empty in a list. */
  settings: string
  /** The host's loopback port that leads to it. */
  publishedPort: number | null
}

/** A container that runs. */
export interface RunningContainer {
  state: ContainerState
  isRecorded: boolean
  /** The named volumes that it uses, and where. */
  volumes: { name: string; path: string }[]
  /** Seconds, on the clock of its node. */
  createdAt: number
}

/** The state of a container that was inspected. */
export function stateOf(found: Docker.ContainerInspectInfo): ContainerState {
  const { State, NetworkSettings } = found
  const wasRun = !State.Running && State.Status !== 'created'
  return {
    id: found.Id,
    name: withoutSlash(found.Name),
    image: found.Image,
    labels: found.Config.Labels ?? {},
    status: State.Status,
    running: State.Running,
    paused: State.Paused,
    exitCode: wasRun ? State.ExitCode : null,
    oomKilled: State.OOMKilled,
    error: State.Error === '' ? null : State.Error,
    address: addressOf(NetworkSettings.Networks),
    networks: networksOf(NetworkSettings.Networks),
    settings: settingsOf(found.HostConfig),
    publishedPort: publishedPort(
      Object.values(NetworkSettings.Ports ?? {}).flatMap((bindings) => bindings ?? []),
    ),
  }
}

/** The state of a running container in a list. */
export function summaryOf(info: Docker.ContainerInfo): ContainerState {
  return {
    id: info.Id,
    name: nameOf(info),
    image: info.ImageID,
    labels: info.Labels ?? {},
    status: info.State,
    running: true,
    paused: false,
    exitCode: null,
    oomKilled: false,
    error: null,
    address: addressOf(info.NetworkSettings?.Networks ?? {}),
    networks: networksOf(info.NetworkSettings?.Networks ?? {}),
    settings: '',
    publishedPort: info.Ports?.find(({ PublicPort }) => PublicPort)?.PublicPort ?? null,
  }
}

/** The volumes that a container in a list uses. */
export function volumesOf({ Mounts }: Docker.ContainerInfo): RunningContainer['volumes'] {
  return Mounts.flatMap(({ Type, Name, Destination }) =>
    Type === 'volume' && Name ? { name: Name, path: Destination } : [],
  )
}

/** The name of a container in a list. */
export function nameOf(info: Docker.ContainerInfo): string {
  return withoutSlash(info.Names[0] ?? '')
}

function withoutSlash(name: string): string {
  return name.replace(/^\//, '')
}

interface Endpoint {
  NetworkID?: string
  IPAddress?: string
  IPAMConfig?: { IPv4Address?: string } | null
}

function networksOf(networks: Record<string, Endpoint>): ContainerState['networks'] {
  return Object.values(networks).map(({ NetworkID, IPAddress, IPAMConfig }) => ({
    id: NetworkID ?? '',
    address: IPAMConfig?.IPv4Address || IPAddress || null,
  }))
}

/** The settings that `docker update` can change, without those that this server never sets. */
function settingsOf(host: Docker.HostConfig): string {
  const { Memory, MemorySwap, NanoCpus, CpuQuota, CpusetCpus, PidsLimit, RestartPolicy } = host
  return JSON.stringify([Memory, MemorySwap, NanoCpus, CpuQuota, CpusetCpus, PidsLimit, RestartPolicy?.Name])
}

function addressOf(networks: Record<string, Endpoint>): string | null {
  return Object.values(networks).find(({ IPAddress }) => IPAddress)?.IPAddress ?? null
}

function publishedPort(bindings: { HostPort?: string }[]): number | null {
  const port = bindings.find(({ HostPort }) => HostPort)?.HostPort
  return port === undefined ? null : Number(port)
}
