import type { CurrentMetrics, MetricsHistory, RequestTarget, ServiceMetrics } from '#server/metrics/schema.ts'
import type { Output } from '../../output.ts'
import { printTable, type Column } from '../columns.ts'
import { sizeText } from '../figures.ts'

const BARS = '▁▂▃▄▅▆▇█'
const BAR_COUNT = 30
const DEFAULT_HEIGHT = 24

/** Prints figures; returns how many lines that took. */
export type Printing<T> = (out: Output, answer: T) => number

type Series = readonly (number | null)[]

/** What an instance or the host used over time. */
interface Used {
  name: string
  cpu: Series
  memory: Series
}

/** The use of a service's instances in a range, and its requests. */
export const printServiceMetrics: Printing<ServiceMetrics> = (out, { instances, requests }) => {
  const sheet = new Sheet(out)
  sheet.print(
    'instance',
    instances.map(({ instance, points }) => usedOf(instance, points)),
    usedColumns(out),
  )
  sheet.print('requests', requests.length === 0 ? [] : [totalOf(requests)], requestColumns)
  return sheet.height
}

/** What the host and its containers used in a range, and all requests. */
export const printHistory: Printing<MetricsHistory> = (out, { host, containers, request_targets }) => {
  const sheet = new Sheet(out)
  const memory = host.map(({ memory_used_bytes }) => memory_used_bytes)
  const cpu = host.map(({ cpu_percent }) => cpu_percent)
  sheet.print('host', [{ name: 'host', cpu, memory }], usedColumns(out))
  const used = containers.map(({ name, instance, points }) => usedOf(instance ?? name, points))
  sheet.print('container', used, usedColumns(out))
  sheet.print('requests', request_targets, requestColumns)
  return sheet.height
}

/** What the host, containers and requests are doing now. */
export const printCurrent: Printing<CurrentMetrics> = (out, { host, containers, requests }) => {
  const sheet = new Sheet(out)
  sheet.print(
    'host',
    [host],
    [
      { title: 'cpu', text: ({ cpu_percent }) => percent(cpu_percent) },
      { title: 'memory', text: ({ memory_used_bytes }) => bytes(out, memory_used_bytes) },
      { title: 'of', text: ({ memory_total_bytes }) => bytes(out, memory_total_bytes) },
      { title: 'received/s', text: ({ network_rx_bytes_per_sec }) => bytes(out, network_rx_bytes_per_sec) },
      { title: 'sent/s', text: ({ network_tx_bytes_per_sec }) => bytes(out, network_tx_bytes_per_sec) },
    ],
  )
  sheet.print('disk', host.disks, [
    { title: 'disk', text: ({ mount_point }) => mount_point },
    { title: 'used', text: ({ used_bytes }) => bytes(out, used_bytes) },
    { title: 'of', text: ({ total_bytes }) => bytes(out, total_bytes) },
    { title: 'read/s', text: ({ read_bytes_per_sec }) => bytes(out, read_bytes_per_sec) },
    { title: 'written/s', text: ({ write_bytes_per_sec }) => bytes(out, write_bytes_per_sec) },
  ])
  sheet.print('container', containers ?? [], [
    { title: 'container', text: ({ name, instance }) => instance ?? name, isWhole: true },
    { title: 'of', text: ({ name }) => name },
    { title: 'cpu', text: ({ cpu_percent }) => percent(cpu_percent) },
    { title: 'memory', text: ({ memory_bytes }) => bytes(out, memory_bytes) },
    { title: 'limit', text: ({ memory_limit_bytes }) => bytes(out, memory_limit_bytes) },
  ])
  sheet.print('requests', requests, requestColumns)
  return sheet.height
}

type Requests = Omit<RequestTarget, 'target'>

const requestColumns: readonly Column<Requests>[] = [
  { title: 'requests', text: ({ name }) => name },
  { title: '/s', text: ({ requests_per_sec }) => requests_per_sec.toFixed(1) },
  { title: '2xx', text: ({ status_2xx }) => String(status_2xx) },
  { title: '3xx', text: ({ status_3xx }) => String(status_3xx) },
  { title: '4xx', text: ({ status_4xx }) => String(status_4xx) },
  { title: '5xx', text: ({ status_5xx }) => String(status_5xx) },
  { title: 'p50 ms', text: ({ p50_ms }) => decimal(p50_ms) },
  { title: 'p95 ms', text: ({ p95_ms }) => decimal(p95_ms) },
]

function usedColumns(out: Output): readonly Column<Used>[] {
  return [
    { title: 'name', text: ({ name }) => name, isWhole: true },
    { title: 'cpu', text: ({ cpu }) => percent(cpu.at(-1) ?? null) },
    { title: 'highest', text: ({ cpu }) => percent(highest(cpu)) },
    { title: 'memory', text: ({ memory }) => bytes(out, memory.at(-1) ?? null) },
    { title: 'highest', text: ({ memory }) => bytes(out, highest(memory)) },
    ...(out.isTerminal ? [{ title: 'cpu over time', text: ({ cpu }: Used) => bars(cpu) }] : []),
  ]
}

function usedOf(
  name: string,
  points: readonly { cpu_percent: number | null; memory_bytes: number | null }[],
): Used {
  return {
    name,
    cpu: points.map(({ cpu_percent }) => cpu_percent),
    memory: points.map(({ memory_bytes }) => memory_bytes),
  }
}

/** The requests of a range together: the rate and the times are the last ones, the answers are all. */
function totalOf(points: ServiceMetrics['requests']): Requests {
  const sum = (status: 'status_2xx' | 'status_3xx' | 'status_4xx' | 'status_5xx'): number =>
    points.reduce((total, point) => total + point[status], 0)
  const { requests_per_sec, p50_ms, p95_ms } = points.at(-1)!
  return {
    name: '',
    requests_per_sec,
    status_2xx: sum('status_2xx'),
    status_3xx: sum('status_3xx'),
    status_4xx: sum('status_4xx'),
    status_5xx: sum('status_5xx'),
    p50_ms,
    p95_ms,
  }
}

function highest(series: Series): number | null {
  const known = series.filter((value) => value !== null)
  return known.length === 0 ? null : Math.max(...known)
}

function bars(series: Series): string {
  const last = series.slice(-BAR_COUNT)
  const top = highest(last) || 1
  return last
    .map((value) => (value === null ? ' ' : BARS[Math.round((value / top) * (BARS.length - 1))]!))
    .join('')
}

function percent(value: number | null): string {
  return value === null ? '' : `${value.toFixed(1)}%`
}

function bytes(out: Output, value: number | null): string {
  if (value === null) return ''
  return out.isTerminal ? sizeText(Math.round(value)) : String(Math.round(value))
}

function decimal(value: number | null): string {
  return value === null ? '' : value.toFixed(1)
}

/** Tables below each other, as many rows as fit a terminal; elsewhere each line begins with what it is about. */
class Sheet {
  readonly #out: Output
  #left: number
  height = 0

  constructor(out: Output) {
    this.#out = out
    this.#left = out.isTerminal ? (process.stdout.rows || DEFAULT_HEIGHT) - 1 : Infinity
  }

  print<T>(kind: string, rows: readonly T[], columns: readonly Column<T>[]): void {
    if (!this.#out.isTerminal)
      return printTable(this.#out, rows, [{ title: kind, text: () => kind }, ...columns])
    const gap = this.height === 0 ? 0 : 1
    const shown = rows.slice(0, Math.max(0, this.#left - 1 - gap))
    if (shown.length === 0) return
    if (gap > 0) this.#out.line('')
    printTable(this.#out, shown, columns)
    const lines = gap + 1 + shown.length
    this.height += lines
    this.#left -= lines
  }
}
