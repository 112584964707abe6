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
export { KILLED, OOM_REPORTED_MS, type ContainerState } from './container-state.ts'
export type { LogOptions } from './container-output.ts'
export type { EngineEvent } from './events.ts'
export { isEngineAway, isSubnetTaken } from './faults.ts'
export type { Ledger } from './ledger.ts'
export type { Listener } from './listening-ports.ts'
export { MAX_LINE_BYTES, type OutputLine } from './log-frames.ts'
export type { RunningContainer } from './usage.ts'

/** Which engine answers, and what its host has. */
export interface EngineInfo {
  name: 'docker' | 'podman'
  version: string
  /** The API version that is used with it. */
  apiVersion: string
  cpus: number
  memoryBytes: number
  cgroupVersion: string
  /** The folder in which it keeps images and the build cache. */
  dataRoot: string
  rootless: boolean
}

/** What the daemon uses of this host's container engine: Docker 20.10 or newer, or Podman. */
export interface Engine {
  /** The path of its socket. */
  readonly socketPath: string
  readonly containers: Containers
  readonly output: ContainerOutput
  readonly programs: Programs
  readonly usages: Usages
  readonly images: Images
  readonly networks: Networks
  readonly volumes: Volumes
  /** Asks the engine what it is. Throws `runtime_error` when it does not answer within 5 s. */
  info(): Promise<EngineInfo>
  /** Whether the engine answers within 5 s; faster than `info`, for which the engine inspects its host. */
  answers(): Promise<boolean>
  /**
   * The events of this server's containers from the moment when this returns. Ends or throws when the engine goes away. The
   * engine then forgets what happened, so list and compare after each connection.
   */
  events(signal: AbortSignal): Promise<AsyncGenerator<EngineEvent>>
  /** Shrinks this server's part of the build cache to about `maxBytes`, least recently used first. */
  shrinkBuildCache(maxBytes: number): Promise<void>
  /** The lowest minor version that its own Dockerfile frontend (1.x) can have, if it has one. Throws `runtime_error`. */
  dockerfileFrontend(): Promise<number | undefined>
  /** Limits all builds together; returns the names of the limits that cannot be set here. Before `info`, that is all. */
  limitBuilds(limits: BuildLimits): string[]
}

const ANSWER_TIMEOUT_MS = 5_000
/** The engine to use, and the server that uses it. */
interface EngineOptions {
  /** `unix:///...`; the first usual socket if absent. */
  dockerHost?: string
  /** Everything that is created gets it as a label. */
  serverId: string
  /** Everything that is created is recorded here, and nothing else is ever changed. */
  ledger: Ledger
}

/** The engine, which need not answer yet. Throws `invalid_request` for an engine on another host. */
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
      // With systemd's driver, each step has a control group of its own at the root, so the steps have no parent to limit.
      canBoundBuilds = info.name === 'docker' && driver === 'cgroupfs' && !info.rootless
      return info
    },
    answers: () => connection.answers(ANSWER_TIMEOUT_MS),
    events: (signal) => engineEvents(connection, serverId, signal),
    shrinkBuildCache: (maxBytes) => cache.shrink(maxBytes),
    dockerfileFrontend: async () => frontendOf(await connection.version()),
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
  const info = (await connection.dial('asking the engine about its host', {
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
