import { AbilityTrial } from './abilities.ts'
import { BuildCache } from './build-cache.ts'
import { Connection } from './connection.ts'
import { ContainerOutput } from './container-output.ts'
import { Containers } from './containers.ts'
import { engineEvents, type EngineEvent } from './events.ts'
import { frontendOf } from './frontend.ts'
import { Images } from './images.ts'
import { BUILD_LIMITS, limitBuilds, type BuildLimits } from './build-limits.ts'
import type { Ledger } from './ledger.ts'
import { Networks } from './networks.ts'
import { Programs } from './programs.ts'
import { Usages } from './usage.ts'
import { Volumes } from './volumes.ts'

export type { Attachment } from './attachment.ts'
export type { BuildOptions } from './build.ts'
export type { BuildLimits } from './build-limits.ts'
export type { ContainerSpec } from './container-spec.ts'
export { KILLED, OOM_TOLD_MS, type ContainerState } from './container-state.ts'
export type { LogOptions } from './container-output.ts'
export type { RegistryCredentials } from './credentials.ts'
export type { EngineEvent } from './events.ts'
export { isEngineAway, isSubnetTaken } from './faults.ts'
export type { Ledger } from './ledger.ts'
export type { ImageInfo, PullOptions } from './images.ts'
export type { Listener } from './listening-ports.ts'
export { MAX_LINE_BYTES, type OutputLine } from './log-frames.ts'
export type { NetworkSpec, NetworkState } from './networks.ts'
export type { ContainerUsage, RunningContainer } from './usage.ts'
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
  /** Where it keeps images and the build cache. */
  dataRoot: string
  rootless: boolean
}

/** The container engine of this host, Docker 20.10 or newer or Podman, behind what the daemon needs of it. */
export interface Engine {
  /** The socket it is spoken to through. */
  readonly socketPath: string
  readonly containers: Containers
  readonly output: ContainerOutput
  readonly programs: Programs
  readonly usages: Usages
  readonly images: Images
  readonly networks: Networks
  readonly volumes: Volumes
  /** Asks the engine who it is. Throws `runtime_error` within 5 s when it does not answer. */
  info(): Promise<EngineInfo>
  /** Whether the engine answers within 5 s; takes it a moment, where `info` has it look around its host. */
  answers(): Promise<boolean>
  /**
   * What happens to this server's containers from when this has returned. Ends or throws when the engine goes away; it
   * forgets what happened then, so list and compare after each connection.
   */
  events(signal: AbortSignal): Promise<AsyncGenerator<EngineEvent>>
  /** Shrinks what this server's builds left in the build cache to about `maxBytes`, least recently used first. */
  shrinkBuildCache(maxBytes: number): Promise<void>
  /** The minor version of its own Dockerfile frontend (1.x), at least; undefined where it has none. Throws `runtime_error`. */
  dockerfileFrontend(): Promise<number | undefined>
  /** Bounds all builds together; returns the limits that cannot be set here, by name: all before `info` has told. */
  limitBuilds(limits: BuildLimits): string[]
}

const ANSWER_TIMEOUT_MS = 5_000
/** Which engine, for which server. */
interface EngineOptions {
  /** `unix:///...`; the first usual socket when absent. */
  dockerHost?: string
  /** What is made carries it as a label. */
  serverId: string
  /** What is made is written down here, and nothing else is ever changed. */
  ledger: Ledger
}

/** The engine, which need not answer yet. Throws `invalid_request` for one on another host. */
export function createEngine({ dockerHost, serverId, ledger }: EngineOptions): Engine {
  const connection = new Connection(dockerHost)
  const cache = new BuildCache(connection, ledger)
  let canBoundBuilds = false
  return {
    socketPath: connection.socketPath,
    containers: new Containers(connection, serverId, ledger, new AbilityTrial(connection, serverId, ledger)),
    output: new ContainerOutput(connection, serverId, ledger),
    programs: new Programs(connection, serverId, ledger),
    usages: new Usages(connection, serverId, ledger),
    images: new Images(connection, serverId, ledger, cache),
    networks: new Networks(connection, serverId, ledger),
    volumes: new Volumes(connection, serverId, ledger),
    info: async () => {
      const { driver, ...info } = await readInfo(connection)
      // With systemd's driver each step has a group of its own at the root: there is none above all of them.
      canBoundBuilds = info.name === 'docker' && driver === 'cgroupfs' && !info.rootless
      return info
    },
    answers: () => connection.answers(ANSWER_TIMEOUT_MS),
    events: (signal) => engineEvents(connection, serverId, signal),
    shrinkBuildCache: (maxBytes) => cache.shrink(maxBytes),
    dockerfileFrontend: async () => frontendOf(await connection.known()),
    limitBuilds: (limits) => (canBoundBuilds ? limitBuilds(limits) : [...BUILD_LIMITS]),
  }
}

interface RawInfo {
  NCPU: number
  MemTotal: number
  CgroupVersion?: string
  SecurityOptions?: string[]
  CgroupDriver?: string
  DockerRootDir?: string
}

async function readInfo(connection: Connection): Promise<EngineInfo & { driver: string }> {
  const met = await connection.meet(ANSWER_TIMEOUT_MS)
  const info = (await connection.dial('asking the engine for its host', {
    method: 'GET',
    path: '/info',
    timeoutMs: ANSWER_TIMEOUT_MS,
  })) as RawInfo
  return {
    ...met,
    cpus: info.NCPU,
    memoryBytes: info.MemTotal,
    cgroupVersion: info.CgroupVersion?.replace('v', '') ?? '1',
    rootless: info.SecurityOptions?.some((option) => option.includes('rootless')) ?? false,
    dataRoot: info.DockerRootDir ?? '',
    driver: info.CgroupDriver ?? '',
  }
}
