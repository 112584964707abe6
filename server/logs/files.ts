import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { useContext } from '../context.ts'
import { takeTurn } from '../work/turns.ts'
import { LogReader } from './file-reader.ts'
import { LogWriter } from './file-writer.ts'
import type { LogLine } from './lines.ts'
import { isStoredStep, type DeployStep } from './steps.ts'

export type { LogWriter } from './file-writer.ts'

const writers = new Map<string, LogWriter>()
const readers = new Map<string, { reader: LogReader; followers: number }>()

/** The file of a deploy's or a job's log: a LogLine as JSON in each line, and a DeployStep for each beginning and end. */
export function logPath(id: string): string {
  return join(useContext().options.dataDirectory, 'logs', `${id}.ndjson`)
}

/** Opens the log of a deploy or a job for appending. One writer at a time. */
export function openLog(id: string): LogWriter {
  const closed = () => {
    if (writers.get(id) === writer) writers.delete(id)
  }
  const writer: LogWriter = new LogWriter(logPath(id), { grown: () => nudgeLog(id), closed })
  writers.set(id, writer)
  return writer
}

/** Adds a line of the server itself to a log, whether it is open for writing or not. */
export async function noteInLog(id: string, line: string): Promise<void> {
  const running = writers.get(id)
  if (running) return running.system(line)
  const log = openLog(id)
  log.system(line)
  await log.close()
}

/** Removes a log. */
export async function removeLog(id: string): Promise<void> {
  await rm(logPath(id), { force: true })
}

/** Whether a log is still open for writing. */
export function isOpen(id: string): boolean {
  return writers.has(id)
}

/** The steps of a deploy whose log is open for writing; empty for any other. */
export function openStepsOf(id: string): DeployStep[] {
  return writers.get(id)?.steps.all ?? []
}

/** Wakes the followers of a log, because its end may have been decided. */
export function nudgeLog(id: string): void {
  readers.get(id)?.reader.nudge()
}

/**
 * The stored lines of a log in blocks and, while `unfinished` returns true, the new ones. All readers of a log share its
 * blocks, and nobody waits for a slower reader. Use `linesOf` to split a block.
 */
export async function* readLog(
  id: string,
  unfinished: () => boolean,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const shared = readers.get(id) ?? { reader: new LogReader(logPath(id)), followers: 0 }
  const { reader } = shared
  readers.set(id, shared)
  shared.followers++
  try {
    let judged = reader.version
    let more = unfinished()
    for (let offset = 0; !signal.aborted;) {
      await takeTurn()
      const { version } = reader
      const block = await reader.at(offset)
      offset += block.length
      if (block.length > 0) yield block
      else if (!more) return
      else if (judged !== version) {
        // Lines written before the end was decided are still read after this.
        more = reader.goesOn(unfinished)
        judged = version
      } else if (version === reader.version) await reader.grown.wait(signal)
    }
  } finally {
    shared.followers--
    if (shared.followers === 0) {
      readers.delete(id)
      await reader.close()
    }
  }
}

/**
 * The stored lines of a block, as JSON. Older servers may have left a line that was cut off when the process was killed; it
 * is skipped.
 */
export function linesOf(block: Buffer): string[] {
  return block
    .toString('utf8')
    .split('\n')
    .filter((line) => line.endsWith('"}'))
}

/** The parsed lines of a block, without the steps. */
export function parseLines(block: Buffer): LogLine[] {
  return linesOf(block).flatMap((line) => (isStoredStep(line) ? [] : [JSON.parse(line) as LogLine]))
}

/** The steps that are stored in the log of a deploy, in the order in which they began. */
export async function storedSteps(id: string, signal: AbortSignal): Promise<DeployStep[]> {
  const steps = new Map<string, DeployStep>()
  for await (const block of readLog(id, () => false, signal)) {
    for (const line of linesOf(block)) {
      if (!isStoredStep(line)) continue
      const step = JSON.parse(line) as DeployStep
      steps.set(step.id, step)
    }
  }
  return [...steps.values()]
}
