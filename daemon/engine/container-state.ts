import type Docker from 'dockerode'

/** What the engine says of a container now. */
export interface ContainerState {
  id: string
  name: string
  /** The id of its image. */
  image: string
  labels: Record<string, string>
  status: string
  running: boolean
  /** Of its last run; null while it runs and when it never did. */
  exitCode: number | null
  /** Whether the kernel killed one of its processes for memory; a running container of a list says false. */
  oomKilled: boolean
  /** Why it did not start, in the engine's words. */
  error: string | null
  /** Its IPv4 address; null while it does not run. */
  address: string | null
  /** The host's loopback port that leads to it. */
  publishedPort: number | null
}

/** The state of a container from a look at it. */
export function stateOf(found: Docker.ContainerInspectInfo): ContainerState {
  const { State, NetworkSettings } = found
  const wasRun = !State.Running && State.Status !== 'created'
  return {
    id: found.Id,
    name: found.Name.replace(/^\//, ''),
    image: found.Image,
    labels: found.Config.Labels ?? {},
    status: State.Status,
    running: State.Running,
    exitCode: wasRun ? State.ExitCode : null,
    oomKilled: State.OOMKilled,
    error: State.Error === '' ? null : State.Error,
    address: addressOf(NetworkSettings.Networks),
    publishedPort: publishedPort(
      Object.values(NetworkSettings.Ports ?? {}).flatMap((bindings) => bindings ?? []),
    ),
  }
}

/** The state of a running container from a list. */
export function summaryOf(info: Docker.ContainerInfo): ContainerState {
  return {
    id: info.Id,
    name: info.Names[0]!.replace(/^\//, ''),
    image: info.ImageID,
    labels: info.Labels ?? {},
    status: info.State,
    running: true,
    exitCode: null,
    oomKilled: false,
    error: null,
    address: addressOf(info.NetworkSettings?.Networks ?? {}),
    publishedPort: info.Ports?.find(({ PublicPort }) => PublicPort)?.PublicPort ?? null,
  }
}

function addressOf(networks: Record<string, { IPAddress?: string }>): string | null {
  return Object.values(networks).find(({ IPAddress }) => IPAddress)?.IPAddress ?? null
}

function publishedPort(bindings: { HostPort?: string }[]): number | null {
  const port = bindings.find(({ HostPort }) => HostPort)?.HostPort
  return port === undefined ? null : Number(port)
}
