import { z } from 'zod'
import { timestamp } from '../clock.ts'

/** All names have the same length, which the filters of stored lines rely on. */
export const LOG_STREAMS = ['stdout', 'stderr', 'system', 'access'] as const

/** One line of a deploy's, a job's or a container's log, as the API returns it. */
export const LogLine = z
  .object({
    ts: z.string(),
    stream: z.enum(LOG_STREAMS),
    line: z.string(),
    instance: z.string().optional(),
    step: z
      .string()
      .optional()
      .meta({
        description: 'In the log of a deploy: the id of the step that it belongs to',
        examples: ['build-3'],
      }),
  })
  .meta({ id: 'LogLine' })
export type LogLine = z.infer<typeof LogLine>

/** A line as it is stored. */
export function storedLine(line: LogLine): string {
  return `${JSON.stringify(line)}\n`
}

/** Converts an engine's timestamp, which has up to nine digits after the second, to the API's format. */
export function lineTime(engineTime: string): string {
  return new Date(engineTime).toISOString()
}

/** A log line from the server itself. */
export function systemLine(line: string): LogLine {
  return { ts: timestamp(Date.now()), stream: 'system', line }
}

/** A line that says how many lines are missing in its place, and of which instance if that is known. */
export function lostLine(count: number, why: string, instance?: string): LogLine {
  const line = systemLine(`${count === 1 ? '1 line was' : `${count} lines were`} lost here: ${why}`)
  return instance === undefined ? line : { ...line, instance }
}

/** Whether a line says that others are missing in its place. */
export function reportsLoss({ stream, line }: LogLine): boolean {
  return stream === 'system' && line.includes(' lost here: ')
}
