import type { Call } from '../call.ts'
import type { Command } from '../command.ts'
import { wrong } from '../fault.ts'
import { candidates } from './candidates.ts'
import { SCRIPTS } from './scripts.ts'

/** Prints the completion script of a shell. */
export async function printScript({ words, out }: Call): Promise<void> {
  const script = SCRIPTS[words[0]!]
  if (script === undefined)
    throw wrong(`there is no completion for that shell; use one of ${Object.keys(SCRIPTS).join(', ')}`)
  out.line(script.trim())
}

/** Prints what can stand in place of the last of some words, one a line. */
export async function printCandidates(table: readonly Command[], words: readonly string[]): Promise<void> {
  try {
    for (const candidate of await candidates(table, words)) process.stdout.write(`${candidate}\n`)
  } catch {
    // A shell has no place for an error.
  }
  // A request that came too late must not hold the shell.
  process.exit(0)
}
