import { Connection, minorOf } from './connection.ts'
import { Containers } from './containers.ts'
import { engineEvents, type EngineEvent } from './events.ts'
import { Images } from './images.ts'
import { limitBuilds, type BuildLimits } from './build-limits.ts'
import { Networks } from './networks.ts'
import { Volumes } from './volumes.ts'

export type { Attachment } from './attachment.ts'
export type { BuildOptions } from './build.ts'
export type { BuildLimits } from './build-limits.ts'
export type { ContainerSpec } from './container-spec.ts'
export type { ContainerState } from './container-state.ts'
export type { LogOptions } from './containers.ts'
export type { RegistryCredentials } from './credentials.ts'
export type { EngineEvent } from './events.ts'
export type { ImageInfo, PullOptions } from './images.ts'
export type { Listener } from './listening-ports.ts'
export type { OutputLine } from './log-frames.ts'
export type { NetworkSpec, NetworkState } from './networks.ts'
export type { ContainerSample } from './stats.ts'
export type { VolumeState } from './volumes.ts'

/** What kind of engine answers and what its host has. */
export interface EngineInfo {
  name: 'docker' | 'podman'
  version: string
  /** The version of the API that is spoken with it. */
  apiVersion: string
  cpus: number
  memoryBytes: number
  cgroupVersion: string
  rootless: boolean
}

/** The container engine of this host, Docker 20.10 or newer or Podman, behind what the daemon needs of it. */
export interface Engine {
  /** The socket it is spoken to through. */
  readonly socketPath: string
  readonly containers: Containers
  readonly images: Images
  readonly networks: Networks
  readonly volumes: Volumes
  /** Asks the engine who it is. Throws `runtime_error` within 5 s when it does not answer. */
  info(): Promise<EngineInfo>
  /**
   * What happens to this server's containers from now on. Ends or throws when the engine goes away; it forgets what
   * happened then, so list and compare after each connection.
   */
  events(signal: AbortSignal): AsyncGenerator<EngineEvent>
  /** Shrinks the build cache to about `maxBytes`, least recently used first. */
  pruneBuildCache(maxBytes: number): Promise<void>
  /** Bounds all builds together; returns whether that is possible here, false before `info` has told. */
  limitBuilds(limits: BuildLimits): boolean
}

const INFO_TIMEOUT_MS = 5_000
/** Removing gigabytes of small files from a slow disk. */
const PRUNE_TIMEOUT_MS = 600_000
/** From here on the engine calls what it keeps of the build cache `reserved-space` (Engine API history, v1.48). */
const RESERVED_SPACE_MINOR = 48

/**
 * The engine at `dockerHost` (`unix:///...`), else at the first usual socket. It need not answer yet. What is made gets
 * `serverId` as a label, and only what carries it is ever changed. Throws `invalid_request` for an engine on another host.
 */
export function createEngine({ dockerHost, serverId }: { dockerHost?: string; serverId: string }): Engine {
  const connection = new Connection(dockerHost)
  let canBoundBuilds = false
  return {
    socketPath: connection.socketPath,
    containers: new Containers(connection, serverId),
    images: new Images(connection, serverId),
    networks: new Networks(connection, serverId),
    volumes: new Volumes(connection, serverId),
    info: async () => {
      const { driver, ...info } = await readInfo(connection)
      // With systemd's driver each step has a group of its own at the root: there is none above all of them.
      canBoundBuilds = info.name === 'docker' && driver === 'cgroupfs' && !info.rootless
      return info
    },
    events: (signal) => engineEvents(connection, serverId, signal),
    pruneBuildCache: (maxBytes) => pruneBuildCache(connection, maxBytes),
    limitBuilds: (limits) => canBoundBuilds && limitBuilds(limits),
  }
}

interface RawInfo {
  NCPU: number
  MemTotal: number
  CgroupVersion?: string
  SecurityOptions?: string[]
  CgroupDriver?: string
}

async function readInfo(connection: Connection): Promise<EngineInfo & { driver: string }> {
  const met = await connection.meet(INFO_TIMEOUT_MS)
  const info = (await connection.dial('asking the engine for its host', {
    method: 'GET',
    path: '/info',
    timeoutMs: INFO_TIMEOUT_MS,
  })) as RawInfo
  return {
    ...met,
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    cgroupVersion: info.CgroupVersion?.replace('v', '') ?? '1',
    rootless: info.SecurityOptions?.some((option) => option.includes('rootless')) ?? false,
    driver: info.CgroupDriver ?? '',
  }
}

async function pruneBuildCache(connection: Connection, maxBytes: number): Promise<void> {
  const { name, apiVersion } = await connection.known()
  // Podman keeps a build's layers as images.
  if (name === 'podman') return
  const option = minorOf(apiVersion) < RESERVED_SPACE_MINOR ? 'keep-storage' : 'reserved-space'
  const path = `/build/prune?${option}=${maxBytes}`
  await connection.dial('shrinking the build cache', { method: 'POST', path, timeoutMs: PRUNE_TIMEOUT_MS })
}
