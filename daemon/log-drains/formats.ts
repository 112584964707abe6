import type { DrainKind } from '#server/log-drains/schema.ts'
import type { LogLine } from '#server/logs/lines.ts'

/** The service that printed the lines. */
export interface Origin {
  serviceId: string
  service: string
  environment: string
}

/** The server itself, which belongs to no environment. */
export const SERVER: Origin = { serviceId: 'none', service: 'deployer', environment: 'none' }

/** A line of a service, or an event of the audit log. */
export type DrainLine = Omit<LogLine, 'stream'> & { stream: LogLine['stream'] | 'audit' }

/** The maximum length of APP-NAME (RFC 5424 section 6). */
const APP_NAME_CHARACTERS = 48
/** Facilities "user-level messages" and "log audit" (RFC 5424 table 1). */
const USER_LEVEL = 1
const LOG_AUDIT = 13
/** Severities (RFC 5424 table 2) and OTLP's numbers for them (logs data model, "SeverityNumber"). */
const SEVERITY: Record<DrainLine['stream'], { syslog: number; otlp: number; text: string }> = {
  stdout: { syslog: 6, otlp: 9, text: 'INFO' },
  stderr: { syslog: 3, otlp: 17, text: 'ERROR' },
  system: { syslog: 5, otlp: 10, text: 'INFO2' },
  access: { syslog: 6, otlp: 9, text: 'INFO' },
  audit: { syslog: 5, otlp: 10, text: 'INFO2' },
}
const NANOSECONDS_PER_MILLISECOND = 1_000_000n
const COLOUR = /\u001b\[[\d;:]*m/g

/** Returns the request body for a kind of destination. */
export function bodyOf(kind: DrainKind, origin: Origin, lines: readonly DrainLine[]): string {
  switch (kind) {
    case 'syslog':
      return lines.map((line) => syslogMessage(origin, line)).join('')
    case 'http':
      return lines.map((line) => `${JSON.stringify({ ...tagsOf(origin), ...line })}\n`).join('')
    case 'loki':
      return JSON.stringify({ streams: lokiStreams(origin, lines) })
    case 'otlp':
      return JSON.stringify(otlpLogs(origin, lines))
  }
}

function tagsOf({ service, environment, serviceId }: Origin): Record<string, string> {
  return { service, environment, service_id: serviceId }
}

/** Returns a message (RFC 5424 section 6) with its length in front (RFC 6587 section 3.4.1). */
function syslogMessage({ service, environment, serviceId }: Origin, line: DrainLine): string {
  const facility = line.stream === 'audit' ? LOG_AUDIT : USER_LEVEL
  const priority = facility * 8 + SEVERITY[line.stream].syslog
  const instance = line.instance === undefined ? '-' : line.instance.slice(-'00000'.length)
  const name = service.slice(0, APP_NAME_CHARACTERS)
  const data = `[deployer@32473 service_id="${serviceId}" environment="${environment}" stream="${line.stream}"]`
  const text = line.line.replaceAll(COLOUR, '')
  const message = `<${priority}>1 ${line.ts} ${environment} ${name} ${instance} ${line.stream} ${data} \uFEFF${text}`
  return `${Buffer.byteLength(message)} ${message}`
}

interface LokiStream {
  stream: Record<string, string>
  values: [time: string, line: string, metadata: Record<string, string>][]
}

/** Returns one stream per set of labels (Loki's HTTP API, "Ingest logs"); few labels, as its documentation recommends. */
function lokiStreams(origin: Origin, lines: readonly DrainLine[]) {
  const streams = new Map<string, LokiStream>()
  for (const { ts, stream, line, instance } of lines) {
    const labels = { service: origin.service, environment: origin.environment, stream }
    const entry: LokiStream = streams.get(stream) ?? { stream: labels, values: [] }
    entry.values.push([nanoseconds(ts), line, instance === undefined ? {} : { instance }])
    streams.set(stream, entry)
  }
  return [...streams.values()]
}

/** Returns an ExportLogsServiceRequest in JSON (OTLP specification, "JSON Protobuf Encoding"). */
function otlpLogs({ service, environment, serviceId }: Origin, lines: readonly DrainLine[]) {
  const attribute = (key: string, value: string) => ({ key, value: { stringValue: value } })
  return {
    resourceLogs: [
      {
        resource: {
          attributes: [
            attribute('service.name', service),
            attribute('deployment.environment.name', environment),
            attribute('deployer.service.id', serviceId),
          ],
        },
        scopeLogs: [
          {
            scope: { name: 'deployer' },
            logRecords: lines.map(({ ts, stream, line, instance }) => ({
              timeUnixNano: nanoseconds(ts),
              observedTimeUnixNano: nanoseconds(ts),
              severityNumber: SEVERITY[stream].otlp,
              severityText: SEVERITY[stream].text,
              body: { stringValue: line },
              attributes: [
                attribute('log.iostream', stream),
                ...(instance === undefined ? [] : [attribute('service.instance.id', instance)]),
              ],
            })),
          },
        ],
      },
    ],
  }
}

function nanoseconds(ts: string): string {
  return String(BigInt(Date.parse(ts)) * NANOSECONDS_PER_MILLISECOND)
}
