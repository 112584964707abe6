import { timestamp } from '../clock.ts'
import type { LogLine } from '../log-lines.ts'

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
export function tellsLoss({ stream, line }: LogLine): boolean {
  return stream === 'system' && line.includes(' lost here: ')
}
