import { clockGap } from '#server/clock.ts'
import { AbilityTrial } from './abilities.ts'
import { BuildCache } from './build-cache.ts'
import { Connection } from './connection.ts'
import { ContainerOutput } from './container-output.ts'
import { Containers } from './containers.ts'
import { DiskUsage, type EngineUse } from './disk-usage.ts'
import { engineEvents, type EngineEvent } from './events.ts'
import { frontendOf } from './frontend.ts'
import { ImageTransfer } from './image-transfer.ts'
import { Images } from './images.ts'
import { BUILD_LIMITS, engineLimitsFault, limitBuilds, type BuildLimits } from './build-limits.ts'
import type { Ledger } from './ledger.ts'
import { Networks } from './networks.ts'
import { Programs } from './programs.ts'
import { findStrays, type Stray } from './strays.ts'
import { Swarm } from './swarm.ts'
import { Usages } from './usage.ts'
import { Volumes } from './volumes.ts'

export type { Attachment } from './attachment.ts'
export type { BuildOptions } from './build.ts'
export { buildLimitsFault, type BuildLimits } from './build-limits.ts'
export type { ContainerSpec } from './container-spec.ts'
export { KILLED, OOM_REPORTED_MS, type ContainerState } from './container-state.ts'
export type { LogOptions } from './container-output.ts'
export { registryCredentials, type RegistryAuth } from './credentials.ts'
export type { EngineUse, ImageUse } from './disk-usage.ts'
export type { EngineEvent } from './events.ts'
export { isEngineAway, isSubnetTaken, lacksShell } from './faults.ts'
export type { Ledger } from './ledger.ts'
export type { Listener } from './listening-ports.ts'
export { MAX_LINE_BYTES, type OutputLine } from './log-frames.ts'
export type { Terminal, TerminalSpec } from './terminal.ts'
export type { RunningContainer } from './usage.ts'
export type { Stray } from './strays.ts'
export type { SwarmNode } from './swarm-node.ts'

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
  /** How it stores images and the files of containers, such as `overlay2`. */
  storageDriver: string
  /** How containers may log, such as `json-file`; empty when it does not say. */
  logDrivers: string[]
  /** What manages control groups: `cgroupfs` or `systemd`. */
  cgroupDriver: string
  /** By how much its clock differs from this host's, as far as the time of its answer shows; null when it does not say. */
  clockGapMs: number | null
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
  readonly swarm: Swarm
  readonly transfer: ImageTransfer
  /** Asks the engine what it is. Throws `runtime_error` when it does not answer within 5 s. */
  info(): Promise<EngineInfo>
  /** Whether the engine answers within 5 s; faster than `info`, for which the engine inspects its host. */
  answers(): Promise<boolean>
  /**
   * The events of this server's containers from the moment when this returns. Ends or throws when the engine goes away. The
   * engine then forgets what happened, so list and compare after each connection.
   */
  events(signal: AbortSignal): Promise<AsyncGenerator<EngineEvent>>
  /** Asks the engine how much room this server's objects take; may take long. Throws `runtime_error`. */
  diskUse(): Promise<EngineUse>
  /**
   * Shrinks this server's part of the build cache to about `maxBytes`, least recently used first. Returns the bytes that were
   * removed. Throws `runtime_error`.
   */
  shrinkBuildCache(maxBytes: number): Promise<number>
  /** How many bytes that would remove. Throws `runtime_error`. */
  excessOfBuildCache(maxBytes: number): Promise<number>
  /** The lowest minor version that its own Dockerfile frontend (1.x) can have, if it has one. Throws `runtime_error`. */
  dockerfileFrontend(): Promise<number | undefined>
  /** Limits all builds together; returns the names of the limits that cannot be set here. Before `info`, that is all. */
  limitBuilds(limits: BuildLimits): string[]
  /** What has this server's label but no record of it. Throws `runtime_error`. */
  strays(signal: AbortSignal): Promise<Stray[]>
}

const ANSWER_TIMEOUT_MS = 5_000
/** The engine to use, and the server that uses it. */
interface EngineOptions {
  /** `unix:///...`; the first usual socket if absent. */
  dockerHost?: string
  /** What the node is called whose engine it is, for error messages; none for the server's own. */
  nodeName?: () => string
  /** Everything that is created gets it as a label. */
  serverId: string
  /** Everything that is created is recorded here, and nothing else is ever changed. */
  ledger: Ledger
}

/** The engine, which need not answer yet. Throws `invalid_request` for an engine on another host. */
export function createEngine({ dockerHost, nodeName, serverId, ledger }: EngineOptions): Engine {
  const connection = new Connection(dockerHost, nodeName)
  const cache = new BuildCache(connection, ledger)
  const usage = new DiskUsage(connection, ledger)
  const networks = new Networks(connection, serverId, ledger)
  const trial = new AbilityTrial(connection, serverId, ledger)
  let canBoundBuilds = false
  return {
    socketPath: connection.socketPath,
    containers: new Containers(connection, serverId, ledger, trial, networks),
    output: new ContainerOutput(connection, serverId, ledger),
    programs: new Programs(connection, serverId, ledger),
    usages: new Usages(connection, serverId, ledger),
    images: new Images(connection, serverId, ledger, cache),
    networks,
    volumes: new Volumes(connection, serverId, ledger),
    swarm: new Swarm(connection, serverId),
    transfer: new ImageTransfer(connection),
    info: async () => {
      const info = await readInfo(connection)
      canBoundBuilds = engineLimitsFault(info) === null
      return info
    },
    answers: () => connection.answers(ANSWER_TIMEOUT_MS),
    events: (signal) => engineEvents(connection, serverId, signal),
    diskUse: () => usage.read(),
    shrinkBuildCache: (maxBytes) => cache.shrink(maxBytes),
    excessOfBuildCache: (maxBytes) => cache.excess(maxBytes),
    dockerfileFrontend: async () => frontendOf(await connection.version()),
    limitBuilds: (limits) => (canBoundBuilds ? limitBuilds(limits) : [...BUILD_LIMITS]),
    strays: (signal) => findStrays(connection, serverId, ledger, signal),
  }
}

interface RawInfo {
  NCPU: number
  MemTotal: number
  CgroupVersion?: string
  SecurityOptions?: string[]
  CgroupDriver?: string
  DockerRootDir?: string
  Driver?: string
  Plugins?: { Log?: string[] | null }
  SystemTime?: string
}

async function readInfo(connection: Connection): Promise<EngineInfo> {
  const met = await connection.meet(ANSWER_TIMEOUT_MS)
  const askedAt = Date.now()
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
    storageDriver: info.Driver ?? '',
    logDrivers: info.Plugins?.Log ?? [],
    cgroupDriver: info.CgroupDriver ?? '',
    clockGapMs: gapOf(info.SystemTime, askedAt),
  }
}

/** How far the engine's clock is off, by its answer to what was asked at that time; null when it does not say. */
function gapOf(systemTime: string | undefined, askedAt: number): number | null {
  const moment = Date.parse(systemTime ?? '')
  return Number.isNaN(moment) ? null : clockGap(moment, askedAt, Date.now())
}
