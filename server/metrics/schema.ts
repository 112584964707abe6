import { z } from 'zod'
import { Timestamp } from '../schema.ts'

const figure = (example: number) =>
  z
    .number()
    .nullable()
    .meta({ examples: [example] })

const bytes = (example: number) => figure(example)

const Requests = {
  requests_per_sec: z.number().meta({ examples: [12.5] }),
  status_2xx: z.int().meta({ description: 'Includes opened WebSockets', examples: [120] }),
  status_3xx: z.int().meta({ examples: [4] }),
  status_4xx: z.int().meta({ description: 'Includes clients that left early', examples: [1] }),
  status_5xx: z.int().meta({ description: "Includes the proxy's own error pages", examples: [0] }),
  p50_ms: figure(4.2).meta({ description: 'Null when there were no requests to time' }),
  p95_ms: figure(18.7),
}

const RequestTarget = z
  .object({
    target: z.string().meta({
      description: 'Id of a service or a redirect host, `dashboard` or `unrouted`',
      examples: ['srv-4f1d0c9a7b3e5d2f6a80'],
    }),
    name: z.string().meta({ description: 'Of a redirect host, the host', examples: ['api'] }),
    ...Requests,
  })
  .meta({ id: 'RequestTarget' })
export type RequestTarget = z.infer<typeof RequestTarget>

const Kind = z.enum(['service', 'datastore']).meta({ examples: ['service'] })

const containerFields = {
  id: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80'] }),
  name: z.string().meta({
    description: '`api` in production, `api.staging` elsewhere',
    examples: ['api'],
  }),
  kind: Kind,
  instance: z
    .string()
    .nullable()
    .meta({ description: 'Only for a service', examples: ['srv-4f1d0c9a7b3e5d2f6a80-1a2b3'] }),
}

export const ContainerUse = z.object({
  ...containerFields,
  node: z.string().meta({ description: 'Id of its node', examples: ['nod-4f1d0c9a7b3e5d2f6a80'] }),
  cpu_percent: figure(3.5).meta({ description: '100 is one core' }),
  cpu_limit: figure(1),
  memory_bytes: bytes(52_428_800),
  memory_limit_bytes: bytes(536_870_912),
})

export const CurrentMetrics = z
  .object({
    at: Timestamp,
    host: z.object({
      cpu_count: z
        .int()
        .nullable()
        .meta({ examples: [2] }),
      cpu_percent: figure(7.5).meta({ description: '0 to 100, of the whole machine' }),
      memory_used_bytes: bytes(1_073_741_824).meta({ description: 'Without page cache' }),
      memory_total_bytes: bytes(4_294_967_296),
      network_rx_bytes_per_sec: bytes(1_024),
      network_tx_bytes_per_sec: bytes(2_048),
      disks: z.array(
        z.object({
          mount_point: z.string().meta({ examples: ['/'] }),
          total_bytes: bytes(68_719_476_736),
          used_bytes: bytes(17_179_869_184),
          read_bytes_per_sec: bytes(0),
          write_bytes_per_sec: bytes(8_192),
        }),
      ),
    }),
    containers: z
      .array(ContainerUse)
      .nullable()
      .meta({ description: 'The busiest first; null when the container engine does not answer' }),
    requests: z.array(RequestTarget),
  })
  .meta({ id: 'CurrentMetrics', description: 'What the host, containers and requests are doing now' })
export type CurrentMetrics = z.infer<typeof CurrentMetrics>

export const RANGES = ['1h', '6h', '24h'] as const
export type Range = (typeof RANGES)[number]

export const HistoryQuery = z.strictObject({
  range: z
    .enum(RANGES)
    .default('1h')
    .meta({ description: 'How far back from now', examples: ['6h'] }),
})

const Window = {
  range: z.enum(RANGES).meta({ examples: ['1h'] }),
  from: Timestamp,
  to: Timestamp,
  step_seconds: z.int().meta({ examples: [10] }),
}

const ContainerPoint = z
  .object({ at: Timestamp, cpu_percent: figure(3.5), memory_bytes: bytes(52_428_800) })
  .meta({ id: 'ContainerPoint' })

export const RequestPoint = z
  .object({
    at: Timestamp,
    seconds: z.number().meta({ description: 'Over how many seconds requests were counted', examples: [10] }),
    ...Requests,
  })
  .meta({ id: 'RequestPoint' })

export const MetricsHistory = z
  .object({
    ...Window,
    host: z.array(
      z.object({
        at: Timestamp,
        cpu_percent: figure(7.5),
        memory_used_bytes: bytes(1_073_741_824),
        memory_total_bytes: bytes(4_294_967_296),
        disk_read_bytes_per_sec: bytes(0),
        disk_write_bytes_per_sec: bytes(8_192),
        network_rx_bytes_per_sec: bytes(1_024),
        network_tx_bytes_per_sec: bytes(2_048),
      }),
    ),
    containers: z
      .array(
        z.object({
          ...containerFields,
          points: z.array(ContainerPoint),
        }),
      )
      .meta({ description: 'The five instances with the highest CPU use in the range, the busiest first' }),
    requests: z.array(RequestPoint).meta({ description: 'Requests to all services together' }),
    request_targets: z.array(RequestTarget),
  })
  .meta({
    id: 'MetricsHistory',
    description: 'Steps of a range, oldest first; one without a reading is left out',
  })
export type MetricsHistory = z.infer<typeof MetricsHistory>

export const ServiceMetrics = z
  .object({
    ...Window,
    instances: z
      .array(
        z.object({
          instance: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80-1a2b3'] }),
          points: z.array(ContainerPoint),
        }),
      )
      .meta({ description: 'The instances that ran in the range, at most 20, the last seen first' }),
    requests: z.array(RequestPoint),
  })
  .meta({ id: 'ServiceMetrics', description: 'What the instances of a service used, and its requests' })
export type ServiceMetrics = z.infer<typeof ServiceMetrics>
