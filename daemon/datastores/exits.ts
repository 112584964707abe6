import type { ContainerState, Engine } from '../engine/index.ts'
import { describeExit } from '../instances/exit.ts'

/** Of the output of a program that ended, for the reason. */
const LAST_LINES = 5
const LAST_LINES_MS = 5_000

/** Why the program of a container ended, with the last of what it said. */
export async function reasonOfEnd(engine: Engine, container: ContainerState): Promise<string> {
  const lines = [`the program ended: ${describeExit(container)}`]
  const options = { tail: LAST_LINES, signal: AbortSignal.timeout(LAST_LINES_MS) }
  for await (const { line } of engine.output.logs(container.name, options)) lines.push(line)
  return lines.join('\n')
}
