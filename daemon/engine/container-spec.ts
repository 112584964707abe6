import { cpus } from 'node:os'
import type Docker from 'dockerode'
import { QUOTA, ulimitsOf, type Abilities } from './abilities.ts'

/** What a container is made from. */
export interface ContainerSpec {
  /** Also its name in the engine: an id of the server's, never a user's word. */
  name: string
  /** An image's id or reference that the engine has. */
  image: string
  labels: Record<string, string>
  /** Values are passed byte for byte. */
  env: Record<string, string>
  command?: string[]
  entrypoint?: string[]
  /** The one network it is in. */
  network: string
  /** Its IPv4 address there; the engine chooses when absent. */
  address?: string
  /** Further names in that network. */
  aliases?: string[]
  /** Name servers' addresses, asked for what the engine does not know itself. */
  dns?: string[]
  /** Memory and swap together. */
  memoryBytes: number
  /** Fractions allowed; more than the host has counts as all. */
  cpus: number
  /** A named volume and where it is seen inside. */
  volume?: { name: string; path: string }
  /** `uid`, `uid:gid` or a name of the image; the image's own when absent. */
  user?: string
  /** Ports of the container that get a loopback port of the host: this one, else any free one. */
  ports?: { inside: number; host?: number }[]
  /** The size of /dev/shm; the engine's own is 64 MiB. */
  shmBytes?: number
  /** The image's own, else SIGTERM. */
  stopSignal?: string
  /** How long the engine waits for its end when it is itself stopped; 10 s when absent. */
  stopSeconds?: number
  pidsLimit?: number
  /** Its output goes to who is attached and is kept nowhere, and it reads what that one writes, to an end. */
  streams?: boolean
}

/** Enough for a runtime with many threads, too few for a fork bomb to hurt the host. */
const DEFAULT_PIDS = 1_024
/** The engine keeps this much of a container's output; the server follows it live. */
const LOG_OPTIONS = { 'max-size': '10m', 'max-file': '3' }
const NANO = 1e9
/**
 * What root of a container may do (capabilities(7)): what entry points of ordinary images need to give files away, to
 * become another user, and to end programs of others. Not raw packets, devices, and writing to the host's audit log.
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

/** The engine's form of a container's limits; swap stays off, so both change together. */
export function limitsOf({ memoryBytes, cpus: wanted }: { memoryBytes: number; cpus: number }): {
  Memory: number
  MemorySwap: number
  NanoCpus: number
} {
  return {
    Memory: memoryBytes,
    MemorySwap: memoryBytes,
    NanoCpus: Math.round(Math.min(wanted, cpus().length) * NANO),
  }
}

/** The body of the engine's create request. */
export function createOptions(
  spec: ContainerSpec,
  labels: Record<string, string>,
  { openFiles, quota }: Abilities,
): Docker.ContainerCreateOptions {
  const ports = (spec.ports ?? []).map(({ inside, host }) => ({ key: `${inside}/tcp`, host }))
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
    // Health is probed from outside; a check that the image brings would only use up the container's limits.
    Healthcheck: { Test: ['NONE'] },
    HostConfig: {
      ...limitsOf(spec),
      PidsLimit: spec.pidsLimit ?? DEFAULT_PIDS,
      Init: true,
      ...(spec.shmBytes === undefined ? {} : { ShmSize: spec.shmBytes }),
      SecurityOpt: ['no-new-privileges'],
      CapDrop: ['ALL'],
      CapAdd: CAPABILITIES,
      Ulimits: ulimitsOf(openFiles),
      ...(quota ? { StorageOpt: QUOTA } : {}),
      // The server supervises: the engine's own policy forgets containers when the engine is killed.
      RestartPolicy: { Name: 'no' },
      LogConfig: spec.streams ? { Type: 'none', Config: {} } : { Type: 'json-file', Config: LOG_OPTIONS },
      NetworkMode: spec.network,
      // Without the host's search domains: a wildcard there would answer for a service that has no instance now.
      ...(spec.dns ? { Dns: spec.dns, DnsSearch: ['.'] } : {}),
      ...(spec.volume
        ? { Mounts: [{ Type: 'volume', Source: spec.volume.name, Target: spec.volume.path }] }
        : {}),
      PortBindings: Object.fromEntries(
        ports.map(({ key, host }) => [key, [{ HostIp: '127.0.0.1', HostPort: String(host ?? '') }]]),
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
