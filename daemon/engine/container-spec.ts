import type Docker from 'dockerode'
import { QUOTA, ulimitsOf, type Abilities } from './abilities.ts'

/** What a container is created from. */
export interface ContainerSpec {
  /** Also its name in the engine: an id of this server, never a name that a user chose. */
  name: string
  /** The id or reference of an image that the engine has. */
  image: string
  labels: Record<string, string>
  /** Values are passed byte for byte. */
  env: Record<string, string>
  command?: string[]
  entrypoint?: string[]
  /** The network it is in. */
  network: string
  /** Its IPv4 address there; the engine chooses one if absent. */
  address?: string
  /** Further networks that it is joined to before it starts, with its address there; the engine chooses one if absent. */
  joined?: { network: string; address?: string }[]
  /** Further names in the first network. */
  aliases?: string[]
  /** Addresses of name servers, for names that the engine does not know itself. */
  dns?: string[]
  /** Memory and swap together. */
  memoryBytes: number
  /** May be a fraction; more than the host has means all, and so does 0. */
  cpus: number
  /** Named volumes and their mount paths in the container. */
  volumes?: { name: string; path: string }[]
  /** Folders of the host and their paths in the container: only for programs of the host itself, which are then run there. */
  hostFolders?: { source: string; path: string; isWritable?: boolean }[]
  /** `uid`, `uid:gid` or a name of the image; the image's own when absent. */
  user?: string
  /** Ports of the container that are published on a port of the host, this one or any free one, at its loopback unless it says. */
  ports?: { inside: number; host?: number; address?: string }[]
  /** The size of /dev/shm; the engine's default is 64 MiB. */
  shmBytes?: number
  /** The image's own if absent, else SIGTERM. */
  stopSignal?: string
  /** How long the engine waits for its end when the engine itself is stopped; 10 s if absent. */
  stopSeconds?: number
  pidsLimit?: number
  /** What its root may do (capabilities(7)); what ordinary images need if absent. */
  capabilities?: string[]
  /** Settings of the kernel for its network (`net.…`). */
  sysctls?: Record<string, string>
  /** Whether it cannot write but to what is mounted. */
  isReadOnly?: boolean
  /** Whether the engine starts it again whenever it ends, also with the host: only for what must run while this server does not. */
  isKept?: boolean
  /** Whether its input and output are those of an attached client; its output is then not logged. */
  streams?: boolean
}

/** Enough for a runtime with many threads, too few for a fork bomb to hurt the host. */
const DEFAULT_PIDS = 1_024
/** How much of a container's output the engine keeps; the server follows it live. */
const LOG_OPTIONS = { 'max-size': '10m', 'max-file': '3' }
const NANO = 1e9
/**
 * What root in a container may do (capabilities(7)): what entry points of ordinary images need to change the owner of files,
 * to become another user, and to end programs of other users. Not raw packets, devices or the host's audit log.
 */
const CAPABILITIES = [
  'CHOWN',
  'DAC_OVERRIDE',
  'FOWNER',
  'FSETID',
  'KILL',
  'NET_BIND_SERVICE',
  'SETGID',
  'SETPCAP',
  'SETUID',
  'SYS_CHROOT',
]

/** A container's limits in the engine's format; swap stays off, so the two memory limits change together. */
export function limitsOf(
  { memoryBytes, cpus }: { memoryBytes: number; cpus: number },
  { cpuCount }: Pick<Abilities, 'cpuCount'>,
): { Memory: number; MemorySwap: number; NanoCpus: number } {
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(Math.min(cpus, cpuCount) * NANO),
  }
}

/** The body of the engine's create request. */
export function createOptions(
  spec: ContainerSpec,
  labels: Record<string, string>,
  abilities: Abilities,
): Docker.ContainerCreateOptions {
  const ports = (spec.ports ?? []).map(({ inside, ...host }) => ({ key: `${inside}/tcp`, host }))
  return {
    name: spec.name,
    Image: spec.image,
    Labels: labels,
    Env: Object.entries(spec.env).map(([name, value]) => `${name}=${value}`),
    ...(spec.command ? { Cmd: spec.command } : {}),
    ...(spec.entrypoint ? { Entrypoint: spec.entrypoint } : {}),
    ...(spec.user ? { User: spec.user } : {}),
    ...(spec.stopSignal ? { StopSignal: spec.stopSignal } : {}),
    ...(spec.stopSeconds ? { StopTimeout: spec.stopSeconds } : {}),
    ExposedPorts: Object.fromEntries(ports.map(({ key }) => [key, {}])),
    ...(spec.streams ? { OpenStdin: true, StdinOnce: true, AttachStdin: true } : {}),
    // Health is probed from outside; the image's own health check would only use up the container's limits.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...limitsOf(spec, abilities),
      PidsLimit: spec.pidsLimit ?? DEFAULT_PIDS,
      Init: true,
      ...(spec.shmBytes === undefined ? {} : { ShmSize: spec.shmBytes }),
      // With SELinux a container reads the host's files only without a label.
      SecurityOpt: ['no-new-privileges', ...(spec.hostFolders ? ['label=disable'] : [])],
      CapDrop: ['ALL'],
      CapAdd: spec.capabilities ?? CAPABILITIES,
      Ulimits: ulimitsOf(abilities.openFiles),
      ...(abilities.quota ? { StorageOpt: QUOTA } : {}),
      ...(spec.sysctls ? { Sysctls: spec.sysctls } : {}),
      ...(spec.isReadOnly ? { ReadonlyRootfs: true } : {}),
      // This server restarts containers: the engine's own policy forgets them when the engine is killed.
      RestartPolicy: { Name: spec.isKept ? 'always' : 'no' },
      LogConfig: spec.streams ? { Type: 'none', Config: {} } : { Type: 'json-file', Config: LOG_OPTIONS },
      NetworkMode: spec.network,
      // Not the host's search domains: a wildcard record there would answer for a service without an instance.
      ...(spec.dns ? { Dns: spec.dns, DnsSearch: ['.'] } : {}),
      ...mountsOf(spec),
      PortBindings: Object.fromEntries(
        ports.map(({ key, host: { host, address = '127.0.0.1' } }) => [
          key,
          [{ HostIp: address, HostPort: String(host ?? '') }],
        ]),
      ),
    },
    NetworkingConfig: {
      EndpointsConfig: {
        [spec.network]: {
          ...(spec.aliases ? { Aliases: spec.aliases } : {}),
          ...(spec.address ? { IPAMConfig: { IPv4Address: spec.address } } : {}),
        },
      },
    },
  }
}

function mountsOf({ volumes = [], hostFolders = [] }: ContainerSpec): { Mounts?: Docker.MountSettings[] } {
  const mounts: Docker.MountSettings[] = [
    ...volumes.map(({ name, path }) => ({ Type: 'volume' as const, Source: name, Target: path })),
    ...hostFolders.map(({ source, path, isWritable = false }) => ({
      ...{ Type: 'bind' as const, Source: source, Target: path, ReadOnly: !isWritable },
    })),
  ]
  return mounts.length > 0 ? { Mounts: mounts } : {}
}
