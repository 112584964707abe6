import type { Call } from '../../cli/call.ts'
import { COMMANDS } from '../../cli/table/index.ts'
import { findCommand, readWords } from '../../cli/words.ts'

/** Where a shell ends the words of a command. */
const END = /\s*(?:[|<>;)]|&&|\s#).*$/
const QUOTED = /'([^']*)'|"([^"]*)"/g
/** `deployer` as a program, with a command after it; also after npx, ssh or in $(...). */
const PROGRAM = /(?<=^|[\s(])deployer (?=[a-z-]*[a-z](?:[\s)]|$))/

/** Splits a line as a shell does, as far as examples need it; what it pipes or redirects, and what comes next, is left out. */
export function wordsOf(line: string): string[] {
  const unquoted = line.replaceAll(QUOTED, (text) => '_'.repeat(text.length))
  const end = END.exec(unquoted)?.index ?? line.length
  return [...line.slice(0, end).matchAll(/(?:'[^']*'|"[^"]*"|[^\s'"])+/g)].map(([word]) =>
    word.replaceAll(QUOTED, (_, single?: string, double?: string) => single ?? double ?? ''),
  )
}

/** The part of each line of a script that runs `deployer`. */
export function linesIn(script: string): string[] {
  return script.split('\n').flatMap((line) => {
    const at = line.startsWith('#') ? -1 : line.search(PROGRAM)
    return at < 0 ? [] : [line.slice(at)]
  })
}

/**
 * Reads a line that begins with `deployer` as the program does; null for `help`, and for `serve` and `install`, which read
 * their own words. Throws an error that names the line.
 */
export function readLine(line: string): Call | null {
  const argv = wordsOf(line).slice(1)
  const isHelp = argv[0] === 'help'
  if (isHelp && argv.length === 1) return null
  const found = findCommand(COMMANDS, isHelp ? argv.slice(1) : argv)
  if ('unknown' in found) throw new Error(`${line}: there is no command ${found.unknown}`)
  if (isHelp || found.command.readsOwnWords) return null
  try {
    return readWords(found.command, found.args)
  } catch (cause) {
    throw new Error(`${line}: ${(cause as Error).message}`, { cause })
  }
}
