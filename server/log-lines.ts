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

// ECMA-48: OSC strings end with BEL or ST; of the control sequences only SGR (final byte m) says something in a log.
const OPERATING_SYSTEM_COMMAND = /\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)/g
const CONTROL_SEQUENCE = /\u001b\[[0-?]*[ -/]*([@-~])/g

/** A line as a terminal would end up showing it: what follows the last carriage return, with colours and no other control. */
export function cleanLine(line: string): string {
  const trimmed = line.endsWith('\r') ? line.slice(0, -1) : line
  const shown = trimmed.slice(trimmed.lastIndexOf('\r') + 1)
  if (!shown.includes('\u001b')) return shown
  return shown
    .replace(OPERATING_SYSTEM_COMMAND, '')
    .replace(CONTROL_SEQUENCE, (sequence, final: string) => (final === 'm' ? sequence : ''))
}

/** An engine's timestamp, which has up to nine digits of the second, as every timestamp on the wire has it. */
export function lineTime(engineTime: string): string {
  return new Date(engineTime).toISOString()
}
