import { z } from 'zod'

export { cleanLine } from './clean-line.ts'

/** One line of a deploy's, a job's or a container's log, as the API returns it. */
export const LogLine = z
  .object({
    ts: z.string(),
    stream: z.enum(['stdout', 'stderr', 'system']),
    line: z.string(),
    instance: z.string().optional(),
  })
  .meta({ id: 'LogLine' })
export type LogLine = z.infer<typeof LogLine>

/** Converts an engine's timestamp, which has up to nine digits after the second, to the API's format. */
export function lineTime(engineTime: string): string {
  return new Date(engineTime).toISOString()
}
