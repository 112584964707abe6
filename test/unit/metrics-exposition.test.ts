import { afterEach, describe, expect, it, vi } from 'vitest'
import { exposition } from '#server/metrics/exposition.ts'
import { freshContainers, freshLatest, publishLatest } from '#server/metrics/latest.ts'
import { readingBetween } from '#server/metrics/reading.ts'
import type { NodeStanding } from '#server/nodes/metrics.ts'
import { samplesIn } from '../support/metrics.ts'
import { container, sample, target } from './metrics-samples.ts'

afterEach(() => vi.useRealTimers())

function found() {
  const containers = (clock: number) => [
    { ...container('srv-1-abcde', clock, clock / 2), id: 'srv-1', name: 'api.staging' },
    {
      ...container('dbs-1', clock, null),
      id: 'dbs-1',
      name: 'db',
      kind: 'datastore' as const,
      memoryBytes: 5,
    },
  ]
  const targets = [target('srv-1', [3, 0, 0, 1]), { ...target('srv-gone', [1, 0, 0, 0]), name: null }]
  const [before, after] = [0, 10].map((clock) => sample({ clock, containers: containers(clock), targets }))
  return { sample: after!, reading: readingBetween(before!, after!) }
}

const HOST = {
  ...{ cpu_percent: 12.5, memory_used_bytes: 600, memory_total_bytes: 1_000 },
  ...{ disk_used_bytes: null, disk_total_bytes: null },
}
const OWN = { id: 'nod-x', name: 'server', isUp: true, host: HOST, instances: 1 }
const LOST = { id: 'nod-y', name: 'worker', isUp: false, host: null, instances: 2 }

const textOf = (latest: ReturnType<typeof found> | null, nodes: NodeStanding[] = [OWN]) =>
  exposition(
    {
      version: '1.2.3',
      certificates: [['a"b\\c', 1_700_000_000]],
      serverBackupAt: 1_700_000_001,
      datastoreBackups: [{ id: 'dbs-1', name: 'db.staging', at: 1_700_000_000.5 }],
      nodes,
    },
    latest,
  )

describe('the text for Prometheus', () => {
  it('names services by their instances and datastores without, each by its name in its environment', () => {
    const labels = samplesIn(textOf(found()))
      .filter(({ name }) => name === 'svc_container_memory_bytes')
      .map((each) => each.labels)
    expect(labels).toEqual([
      { kind: 'service', id: 'srv-1', name: 'api.staging', instance_id: 'srv-1-abcde' },
      { kind: 'datastore', id: 'dbs-1', name: 'db' },
    ])
  })

  it('names the node of a container where there are several', () => {
    const labels = samplesIn(textOf(found(), [OWN, LOST]))
      .filter(({ name }) => name === 'svc_container_memory_bytes')
      .map((each) => each.labels)
    expect(labels).toMatchObject([
      { instance_id: 'srv-1-abcde', node: 'server' },
      { id: 'dbs-1', node: 'server' },
    ])
  })

  it('has what is known of each node', () => {
    const samples = samplesIn(textOf(null, [OWN, LOST]))
      .filter(({ name }) => name.startsWith('svc_node_'))
      .map(({ name, labels, value }) => [name, labels, value])
    const [own, lost] = [{ node: 'server' }, { node: 'worker' }]
    expect(samples).toEqual([
      ['svc_node_up', own, 1],
      ['svc_node_up', lost, 0],
      ['svc_node_cpu_percent', own, 12.5],
      ['svc_node_memory_used_bytes', own, 600],
      ['svc_node_memory_total_bytes', own, 1_000],
      ['svc_node_instances', own, 1],
      ['svc_node_instances', lost, 2],
    ])
  })

  it('leaves out what could not be read, and removed targets', () => {
    const samples = samplesIn(textOf(found()))
    const of = (name: string) => samples.filter((each) => each.name === name)
    expect(of('svc_container_cpu_percent')).toMatchObject([{ labels: { id: 'srv-1' }, value: 50 }])
    expect(of('svc_http_requests_total').map(({ labels, value }) => [labels.status_class, value])).toEqual([
      ['2xx', 3],
      ['3xx', 0],
      ['4xx', 0],
      ['5xx', 1],
    ])
  })

  it('counts requests into buckets that include all faster ones too', () => {
    const samples = samplesIn(textOf(found()))
    const buckets = samples.filter(({ name }) => name === 'svc_http_request_duration_seconds_bucket')
    const values = buckets.map(({ value }) => value)
    expect(values).toEqual(values.toSorted((left, right) => left - right))
    expect(buckets.at(-1)!.labels.le).toBe('+Inf')
    expect(samples.find(({ name }) => name === 'svc_http_request_duration_seconds_count')!.value).toBe(
      values.at(-1),
    )
  })

  it('has the version, the certificates and the backups whatever was measured', () => {
    expect(
      textOf(null)
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#') && !line.startsWith('svc_node_')),
    ).toEqual([
      'svc_build_info{version="1.2.3"} 1',
      'svc_certificate_not_after_timestamp_seconds{host="a\\"b\\\\c"} 1700000000',
      'svc_server_backup_last_success_timestamp_seconds 1700000001',
      'svc_datastore_backup_last_success_timestamp_seconds{id="dbs-1",name="db.staging"} 1700000000.5',
    ])
  })
})

describe('the last measurement', () => {
  it('is valid for 30 seconds', () => {
    vi.useFakeTimers({ toFake: ['performance'] })
    publishLatest(found())
    vi.advanceTimersByTime(30_000)
    expect(freshLatest()).not.toBeNull()
    expect([...freshContainers().keys()]).toEqual(['srv-1-abcde', 'dbs-1'])
    vi.advanceTimersByTime(1)
    expect(freshLatest()).toBeNull()
    expect(freshContainers().size).toBe(0)
  })
})
