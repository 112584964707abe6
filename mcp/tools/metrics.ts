import { z } from 'zod'
import { ask, type Call } from '../call.ts'
import { IN_ENVIRONMENT, placeOf } from '../places.ts'
import { number, text } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'
import { Window } from './metrics-window.ts'

const figure = z.number().nullable()
const Target = z.looseObject({ target: z.string(), name: z.string() })
const Container = z.looseObject({ id: z.string(), name: z.string() })

const Now = z.object({
  at: z.string(),
  host: z.looseObject({ cpu_percent: figure, memory_used_bytes: figure }),
  containers: z.array(Container).nullable(),
  requests: z.array(Target),
})

const Point = z.object({ at: z.string(), cpu_percent: figure, memory_bytes: figure })
const RequestPoint = z.object({
  at: z.string(),
  requests_per_sec: z.number(),
  status_4xx: z.number(),
  status_5xx: z.number(),
  p95_ms: figure,
})
const Range = { range: z.string(), from: z.string(), to: z.string() }

const OfService = z.object({
  ...Range,
  instances: z.array(z.object({ instance: z.string(), points: z.array(Point) })),
  requests: z.array(RequestPoint),
})
const OfServer = z.object({
  ...Range,
  host: z.array(z.object({ at: z.string(), cpu_percent: figure, memory_used_bytes: figure })),
  containers: z.array(z.looseObject({ name: z.string(), points: z.array(Point) })),
  requests: z.array(RequestPoint),
  request_targets: z.array(Target),
})

const REQUESTS = { requests_per_sec: number, status_4xx: number, status_5xx: number, p95_ms: number }

export const METRIC_READERS: Tool[] = [
  defineTool({
    name: 'get_metrics',
    title: 'Get metrics',
    description:
      'CPU (100 is one core for containers, the whole machine for the server), memory and requests of a service, or of the server and its busiest containers: now, or over a range in at most 60 points with means of CPU and memory.',
    effect: 'read',
    input: {
      service: z.string().min(1).optional(),
      ...IN_ENVIRONMENT,
      range: z.enum(['now', '1h', '6h', '24h']).default('now'),
    },
    output: {
      range: z.string(),
      from: text,
      to: text,
      cpu_percent: number,
      memory_bytes: number,
      containers: z.array(
        z.object({
          name: text,
          instance: text,
          cpu_percent: number,
          cpu_limit: number,
          memory_bytes: number,
          memory_limit_bytes: number,
        }),
      ),
      requests: z.array(z.object({ name: text, ...REQUESTS })).nullish(),
      points: z
        .array(z.object({ at: z.string(), cpu_percent: number, memory_bytes: number, ...REQUESTS }))
        .nullish(),
    },
    async run({ service, environment, range }, { call }) {
      if (range === 'now') return { value: await metricsNow(call, service, environment) }
      const value =
        service === undefined
          ? await historyOfServer(call, range)
          : await historyOfService(call, service, environment, range)
      return { value }
    },
  }),
]

async function metricsNow(
  call: Call,
  service: string | undefined,
  environment: string | undefined,
): Promise<Record<string, unknown>> {
  const { at, host, containers, requests } = await ask(call, Now, 'GET', '/server/metrics')
  if (service === undefined) {
    const { cpu_percent, memory_used_bytes } = host
    return {
      range: 'now',
      to: at,
      cpu_percent,
      memory_bytes: memory_used_bytes,
      containers: containers ?? [],
      requests,
    }
  }
  const { path, query } = placeOf('services', service, environment)
  const { id } = await ask(call, z.object({ id: z.string() }), 'GET', path, { query })
  return {
    range: 'now',
    to: at,
    containers: (containers ?? []).filter((container) => container.id === id),
    requests: requests.filter(({ target }) => target === id),
  }
}

async function historyOfService(
  call: Call,
  service: string,
  environment: string | undefined,
  range: string,
): Promise<Record<string, unknown>> {
  const { path, query } = placeOf('services', service, environment)
  const found = await ask(call, OfService, 'GET', `${path}/metrics`, { query: { ...query, range } })
  const window = new Window(found)
  for (const { points } of found.instances) {
    window.add('cpu_percent', points, (point) => point.cpu_percent)
    window.add('memory_bytes', points, (point) => point.memory_bytes)
  }
  addRequests(window, found.requests)
  return {
    ...rangeOf(found),
    containers: found.instances.map(({ instance, points }) => ({ instance, ...meansOf(points) })),
    points: window.points(),
  }
}

async function historyOfServer(call: Call, range: string): Promise<Record<string, unknown>> {
  const found = await ask(call, OfServer, 'GET', '/server/metrics/history', { query: { range } })
  const window = new Window(found)
  window.add('cpu_percent', found.host, (point) => point.cpu_percent)
  window.add('memory_bytes', found.host, (point) => point.memory_used_bytes)
  addRequests(window, found.requests)
  return {
    ...rangeOf(found),
    containers: found.containers.map(({ points, ...container }) => ({ ...container, ...meansOf(points) })),
    requests: found.request_targets,
    points: window.points(),
  }
}

function rangeOf({ range, from, to }: { range: string; from: string; to: string }) {
  return { range, from, to }
}

function addRequests(window: Window, requests: z.output<typeof RequestPoint>[]): void {
  window.add('requests_per_sec', requests, (point) => point.requests_per_sec)
  window.addSum('status_4xx', requests, (point) => point.status_4xx)
  window.addSum('status_5xx', requests, (point) => point.status_5xx)
  window.addMost('p95_ms', requests, (point) => point.p95_ms)
}

function meansOf(points: z.output<typeof Point>[]) {
  return {
    cpu_percent: meanOf(points.map(({ cpu_percent }) => cpu_percent)),
    memory_bytes: meanOf(points.map(({ memory_bytes }) => memory_bytes)),
  }
}

function meanOf(values: (number | null)[]): number | undefined {
  const known = values.filter((value) => value !== null)
  if (known.length === 0) return undefined
  return Math.round((known.reduce((sum, value) => sum + value, 0) / known.length) * 100) / 100
}
