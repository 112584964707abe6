import { parseArgs, type ParseArgsConfig } from 'node:util'
import { Call } from './call.ts'
import { COMMON_FLAGS, flagsOf, type Command, type Flag } from './command.ts'
import { EXIT, Fault } from './fault.ts'
import { didYouMean, looksSecret } from './suggest.ts'

/** Spellings of commands as flags, common in other programs. */
const SPELLINGS: ReadonlyMap<string, string> = new Map([
  ['-v', 'version'],
  ['--version', 'version'],
])

/** A command and the words that are not its name. */
interface Found {
  command: Command
  args: string[]
}

/**
 * Finds the command among the words; flags may stand before it. Returns null if there is none, with the first word that was
 * taken for one.
 */
export function findCommand(
  table: readonly Command[],
  argv: readonly string[],
): Found | { unknown: string | null } {
  const positions = positionsOf(table, argv)
  const [first, second] = positions
  if (first === undefined) return { unknown: null }
  const word = SPELLINGS.get(argv[first]!) ?? argv[first]!
  if (second !== undefined) {
    const command = named(table, `${word} ${argv[second]}`)
    if (command) return { command, args: argv.filter((_, index) => index !== first && index !== second) }
  }
  const command = named(table, word)
  return command ? { command, args: argv.filter((_, index) => index !== first) } : { unknown: word }
}

function named(table: readonly Command[], name: string): Command | undefined {
  return table.find((command) => command.name === name || command.aliases?.includes(name))
}

/** Where the first two words are that are neither flags nor their values. */
function positionsOf(table: readonly Command[], argv: readonly string[]): number[] {
  const found: number[] = []
  for (let index = 0; index < argv.length && found.length < 2; index++) {
    const word = argv[index]!
    if (word === '--') break
    if (!word.startsWith('-') || word === '-' || SPELLINGS.has(word)) found.push(index)
    else if (takesNext(table, word)) index++
  }
  return found
}

/** Whether a flag has its value in the next word: every command that has a flag of this name gives it one. */
function takesNext(table: readonly Command[], word: string): boolean {
  if (word.startsWith('--')) return isValued(table, ({ name }) => word === `--${name}`)
  const letters = [...word.slice(1)]
  const last = letters.pop()
  // In `-eproduction` the value is in the word itself.
  const areSwitches = letters.every((letter) => !isValued(table, ({ short }) => short === letter))
  return areSwitches && isValued(table, ({ short }) => short === last)
}

function isValued(table: readonly Command[], isMeant: (flag: Flag) => boolean): boolean {
  const all = [...COMMON_FLAGS, ...table.flatMap(({ flags }) => flags ?? [])].filter(isMeant)
  return all.length > 0 && all.every(({ value }) => value !== undefined)
}

/** Reads the words of a command. Throws Fault for an unknown flag, a missing value, or a word too many or too few. */
export function readWords(command: Command, args: readonly string[]): Call {
  const flags = flagsOf(command)
  const { tokens } = parsed(command, args, flags)
  const values = new Map<string, string[]>()
  const words: string[] = []
  let rest: string[] | null = null
  for (const token of tokens) {
    if (token.kind === 'option-terminator') rest = command.takesCommand ? [] : rest
    else if (token.kind === 'positional') (rest ?? words).push(token.value)
    else {
      const given = values.get(token.name) ?? []
      values.set(token.name, token.value === undefined ? given : [...given, token.value])
    }
  }
  if (!values.has('help')) checkCount(command, words)
  return new Call(command, words, rest, values)
}

/** Flags as `parseArgs` takes them. */
export function optionsOf(flags: readonly Flag[]): NonNullable<ParseArgsConfig['options']> {
  return Object.fromEntries(
    flags.map(({ name, short, value }) => [
      name,
      {
        type: value === undefined ? 'boolean' : 'string',
        multiple: true,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  )
}

function parsed(command: Command, args: readonly string[], flags: readonly Flag[]) {
  try {
    return parseArgs({
      args: [...args],
      options: optionsOf(flags),
      allowPositionals: true,
      strict: true,
      tokens: true,
    })
  } catch (cause) {
    throw refused(command, faultOf(cause as NodeJS.ErrnoException, flags))
  }
}

/** The first sentence of parseArgs' own message; the others are advice about other programs' words. */
function faultOf(cause: NodeJS.ErrnoException, flags: readonly Flag[]): string {
  const [sentence = ''] = cause.message.split(/\.?\s*(?:\n|\.\s)/)
  const [, ambiguous] = /'(?:-\w, )?(--[\w-]+)[^']*' argument is ambiguous/.exec(sentence) ?? []
  if (ambiguous !== undefined)
    return `Option '${ambiguous}' takes a value; one that begins with - is written ${ambiguous}=-value`
  const refusing = flags.find(
    ({ name, refusesValue }) => refusesValue && sentence.startsWith(`Option '--${name}'`),
  )
  if (refusing) return refusing.refusesValue!
  const unknown =
    cause.code === 'ERR_PARSE_ARGS_UNKNOWN_OPTION' ? /'--?([^']*)'/.exec(sentence)?.[1] : undefined
  if (unknown === undefined) return sentence
  if (looksSecret(unknown)) return 'Unknown option'
  return `${sentence}${didYouMean(
    unknown,
    flags.map(({ name }) => name),
    '--',
  )}`
}

function checkCount(command: Command, words: readonly string[]): void {
  const takes = command.words ?? []
  const most = takes.at(-1)?.repeats ? Infinity : takes.length
  const tooMuch = words[most]
  if (tooMuch !== undefined) {
    // A token that was pasted in the wrong place must not end up in the log of a CI job.
    throw refused(
      command,
      looksSecret(tooMuch) ? 'There is a word too many' : `Unexpected argument '${tooMuch}'`,
    )
  }
  // What may be left out may stand before what must be there: `scale [service] <n>`.
  const missing = takes.filter(({ isOptional }) => !isOptional)[words.length]
  if (missing) throw refused(command, `<${missing.name}> is missing`)
}

/** The error for words that a command does not take. */
function refused(command: Command, fault: string): Fault {
  const exitCode = command.isOfServer ? EXIT.failed : EXIT.wrongWords
  const sentence = fault.endsWith('?') ? fault : `${fault}.`
  return new Fault(exitCode, `${sentence} See deployer help ${command.name}.`)
}
