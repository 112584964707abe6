import { LATENCY_BUCKETS_SECONDS } from '#proxy/latency-buckets.ts'
import type { NodeStanding } from '../nodes/metrics.ts'
import type { HostFigures } from '../nodes/schema.ts'
import type { Latest } from './latest.ts'
import type { HostCounters, RequestCounters } from './sample.ts'
import type { ContainerReading } from './reading.ts'

/** A metric family of the text format. Its samples are `[labels, value]`; a sample without a value is left out. */
interface Family {
  name: string
  type: 'counter' | 'gauge' | 'histogram'
  help: string
  samples: [labels: Labels, value: number | null, suffix?: string][]
}

type Labels = Record<string, string>

export const EXPOSITION_TYPE = 'text/plain; version=0.0.4; charset=utf-8'

const STATUS_CLASSES = ['2xx', '3xx', '4xx', '5xx']

/** What the exposition contains besides measurements. */
export interface Standing {
  version: string
  /** When the certificate expires, in Unix seconds, by host. */
  certificates: [host: string, expiresAt: number][]
  /** When each datastore was last backed up; `at` in Unix seconds. */
  datastoreBackups: { id: string; name: string; at: number }[]
  /** When the server was last backed up, in Unix seconds; null if never. */
  serverBackupAt: number | null
  /** The server's own node, and the others. */
  nodes: readonly NodeStanding[]
}

/** Formats all metrics in Prometheus' text format 0.0.4 (prometheus.io/docs/instrumenting/exposition_formats). */
export function exposition(
  { version, certificates, datastoreBackups, serverBackupAt, nodes }: Standing,
  latest: Latest | null,
): string {
  const families: Family[] = [
    gauge('svc_build_info', 'The version of the server; always 1.', [[{ version }, 1]]),
    gauge(
      'svc_certificate_not_after_timestamp_seconds',
      'When the certificate of a host expires.',
      certificates.map(([host, expiresAt]) => [{ host }, expiresAt]),
    ),
    gauge(
      'svc_server_backup_last_success_timestamp_seconds',
      'When the last backup of the server that succeeded was complete.',
      [[{}, serverBackupAt]],
    ),
    gauge(
      'svc_datastore_backup_last_success_timestamp_seconds',
      'When the last backup of a datastore that succeeded was complete.',
      datastoreBackups.map(({ id, name, at }) => [{ id, name }, at]),
    ),
    ...(latest ? hostFamilies(latest.sample.host) : []),
    ...nodeFamilies(nodes),
    ...containerFamilies(latest?.reading?.containers ?? [], nodes),
    ...(latest?.sample.requests ? requestFamilies(latest.sample.requests) : []),
  ]
  return families.map(textOf).join('')
}

function hostFamilies({ cpuCount, cpuSeconds, memory, disks, interfaces }: HostCounters): Family[] {
  const ofDisks = (value: (disk: HostCounters['disks'][number]) => number | null): Family['samples'] =>
    disks.map((disk) => [{ mount_point: disk.mountPoint }, value(disk)])
  const ofInterfaces = (key: 'receivedBytes' | 'transmittedBytes'): Family['samples'] =>
    (interfaces ?? []).map((each) => [{ device: each.device }, each[key]])
  return [
    gauge('svc_host_cpu_count', 'CPUs of the host.', [[{}, cpuCount]]),
    counter(
      'svc_host_cpu_seconds_total',
      'Seconds that the CPUs of the host spent in each mode.',
      Object.entries(cpuSeconds ?? {}).map(([mode, seconds]) => [{ mode }, seconds]),
    ),
    gauge('svc_host_memory_total_bytes', 'Memory of the host.', [[{}, memory && memory.totalBytes]]),
    gauge('svc_host_memory_available_bytes', 'Memory that programs can use without swapping.', [
      [{}, memory && memory.availableBytes],
    ]),
    gauge(
      'svc_host_disk_total_bytes',
      'Size of a file system.',
      ofDisks(({ totalBytes }) => totalBytes),
    ),
    gauge(
      'svc_host_disk_used_bytes',
      'Used bytes of a file system.',
      ofDisks(({ usedBytes }) => usedBytes),
    ),
    counter(
      'svc_host_disk_read_bytes_total',
      'Bytes read from the device of a file system.',
      ofDisks(({ readBytes }) => readBytes),
    ),
    counter(
      'svc_host_disk_written_bytes_total',
      'Bytes written to the device of a file system.',
      ofDisks(({ writtenBytes }) => writtenBytes),
    ),
    counter(
      'svc_host_network_receive_bytes_total',
      'Bytes received by a network interface.',
      ofInterfaces('receivedBytes'),
    ),
    counter(
      'svc_host_network_transmit_bytes_total',
      'Bytes sent by a network interface.',
      ofInterfaces('transmittedBytes'),
    ),
  ]
}

function nodeFamilies(nodes: readonly NodeStanding[]): Family[] {
  const samples = (value: (node: NodeStanding) => number | null): Family['samples'] =>
    nodes.map((node) => [{ node: node.name }, value(node)])
  const figures = (key: keyof HostFigures): Family['samples'] => samples(({ host }) => host && host[key])
  return [
    gauge(
      'svc_node_up',
      'Whether a node answers the server.',
      samples(({ isUp }) => Number(isUp)),
    ),
    gauge('svc_node_cpu_percent', 'CPU use of a node; 100 is all of its cores.', figures('cpu_percent')),
    gauge(
      'svc_node_memory_used_bytes',
      'Memory of a node in use, without page cache.',
      figures('memory_used_bytes'),
    ),
    gauge('svc_node_memory_total_bytes', 'Memory of a node.', figures('memory_total_bytes')),
    gauge(
      'svc_node_disk_used_bytes',
      "Used bytes of the file system of a node's engine.",
      figures('disk_used_bytes'),
    ),
    gauge(
      'svc_node_disk_total_bytes',
      "Size of the file system of a node's engine.",
      figures('disk_total_bytes'),
    ),
    gauge(
      'svc_node_instances',
      'Instances of services on a node.',
      samples(({ instances }) => instances),
    ),
  ]
}

/** Containers are told with their node where there are several: one that is alone has the labels that it always had. */
function containerFamilies(
  containers: readonly ContainerReading[],
  nodes: readonly NodeStanding[],
): Family[] {
  const names = new Map(nodes.length > 1 ? nodes.map(({ id, name }) => [id, name]) : [])
  const samples = (key: 'cpuPercent' | 'memoryBytes'): Family['samples'] =>
    containers.map((each) => [labelsOf(each, names), each[key]])
  return [
    gauge('svc_container_cpu_percent', 'CPU use of a container; 100 is one core.', samples('cpuPercent')),
    gauge('svc_container_memory_bytes', 'Memory of a container without page cache.', samples('memoryBytes')),
  ]
}

function labelsOf(
  { kind, id, name, container, node }: ContainerReading,
  names: ReadonlyMap<string, string>,
): Labels {
  const nodeName = names.get(node)
  return {
    ...{ kind, id, name },
    ...(kind === 'service' ? { instance_id: container } : {}),
    ...(nodeName === undefined ? {} : { node: nodeName }),
  }
}

function requestFamilies({ targets }: RequestCounters): Family[] {
  const named = targets.flatMap(({ target, name, ...counted }) =>
    name === null ? [] : [{ labels: { target, name }, ...counted }],
  )
  return [
    counter(
      'svc_http_requests_total',
      'Requests by the class of their status.',
      named.flatMap(({ labels, statuses }) =>
        statuses.map((count, index): [Labels, number] => [
          { ...labels, status_class: STATUS_CLASSES[index]! },
          count,
        ]),
      ),
    ),
    {
      name: 'svc_http_request_duration_seconds',
      type: 'histogram',
      help: 'Time from a request to the headers of its answer.',
      samples: named.flatMap(({ labels, latency }) => histogram(labels, latency.buckets, latency.sumSeconds)),
    },
  ]
}

function histogram(labels: Labels, buckets: readonly number[], sumSeconds: number): Family['samples'] {
  let count = 0
  const bounds = [...LATENCY_BUCKETS_SECONDS.map(String), '+Inf'].map(
    (le, index): Family['samples'][number] => {
      count += buckets[index] ?? 0
      return [{ ...labels, le }, count, '_bucket']
    },
  )
  return [...bounds, [labels, sumSeconds, '_sum'], [labels, count, '_count']]
}

function gauge(name: string, help: string, samples: Family['samples']): Family {
  return { name, type: 'gauge', help, samples }
}

function counter(name: string, help: string, samples: Family['samples']): Family {
  return { name, type: 'counter', help, samples }
}

function textOf({ name, type, help, samples }: Family): string {
  const lines = samples
    .filter(([, value]) => value !== null)
    .map(([labels, value, suffix = '']) => `${name}${suffix}${labelText(labels)} ${value}\n`)
  return lines.length === 0 ? '' : `# HELP ${name} ${help}\n# TYPE ${name} ${type}\n${lines.join('')}`
}

function labelText(labels: Labels): string {
  const pairs = Object.entries(labels).map(([name, value]) => `${name}="${escaped(value)}"`)
  return pairs.length === 0 ? '' : `{${pairs.join(',')}}`
}

function escaped(value: string): string {
  return value.replaceAll('\\', '\\\\').replaceAll('"', '\\"').replaceAll('\n', '\\n')
}
