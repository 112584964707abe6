import { z } from 'zod'

/** One line of a deploy's, a job's or a container's log on the wire. */
export const LogLine = z
  .object({
    ts: z.string(),
    stream: z.enum(['stdout', 'stderr', 'system']),
    line: z.string(),
    instance: z.string().optional(),
  })
  .meta({ id: 'LogLine' })
export type LogLine = z.infer<typeof LogLine>

/** A line as it is stored. */
export function storedLine(line: LogLine): string {
  return `${JSON.stringify(line)}\n`
}

/** An engine's timestamp, which has up to nine digits of the second, as every timestamp on the wire has it. */
export function lineTime(engineTime: string): string {
  return new Date(engineTime).toISOString()
}
