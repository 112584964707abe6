import { timestamp } from '../clock.ts'
import type { LogLine } from './lines.ts'

/** A line of the server's own in a log. */
export function systemLine(line: string): LogLine {
  return { ts: timestamp(Date.now()), stream: 'system', line }
}

/** One that says how many lines are missing at its place, of one instance where that is known. */
export function lostLine(count: number, why: string, instance?: string): LogLine {
  const line = systemLine(`${count === 1 ? '1 line was' : `${count} lines were`} lost here: ${why}`)
  return instance === undefined ? line : { ...line, instance }
}

/** Whether a line says that others are missing at its place. */
export function tellsLoss({ stream, line }: LogLine): boolean {
  return stream === 'system' && line.includes(' lost here: ')
}
