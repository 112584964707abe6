import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { didYouMean, looksSecret, withoutTokens } from './suggest.ts'
import type { Call } from './call.ts'
import type { Command, Program } from './command.ts'
import { EXIT, Fault } from './fault.ts'
import { helpOf, overview } from './help.ts'
import { oneLine } from './clean-text.ts'
import { exitOnSignals } from './interrupts.ts'
import { COMMANDS } from './table/index.ts'
import { findCommand, readWords } from './words.ts'

/** The programs of commands that only the server's build has, each loaded on demand. */
export interface ServerPrograms {
  /** Reads its own words and runs until a signal ends it. */
  serve: (args: string[]) => Promise<void>
  load: (name: string) => Promise<((call: Call, args: string[]) => Promise<number | void>) | undefined>
  /** Whether an error is meant for its reader, beside Fault. */
  isExpected: (error: unknown) => boolean
}

/** Runs `deployer <command>` and sets the exit code. `server` is there in the server's build alone. */
export async function runCommand(argv: string[], server: ServerPrograms | null): Promise<void> {
  const isServing = argv[0] === 'serve' && !argv.some((word) => word === '-h' || word === '--help')
  surviveLostOutput(isServing)
  try {
    process.exitCode = (await run(argv, server)) ?? 0
  } catch (error) {
    report(error, argv, server)
  }
}

async function run(argv: string[], server: ServerPrograms | null): Promise<number | void> {
  // On its host an unknown command ends with 1, as every wrong word there does.
  const unknownCode = server ? EXIT.failed : EXIT.wrongWords
  if (argv[0] === 'help') return help(argv.slice(1), unknownCode)
  // What the completion scripts call: `deployer __complete -- <words>`.
  if (argv[0] === '__complete') {
    const { printCandidates } = await import('./completion/index.ts')
    return printCandidates(COMMANDS, argv.slice(2))
  }
  const found = findCommand(COMMANDS, argv)
  if ('unknown' in found) {
    const isHelp = found.unknown === null && argv.every((word) => word === '-h' || word === '--help')
    if (isHelp) return print(overview(COMMANDS))
    throw unknownCommand(found.unknown ?? argv[0]!, unknownCode)
  }
  const { command, args } = found
  if (command.readsOwnWords) {
    if (args.some((word) => word === '-h' || word === '--help')) return print(helpOf(command))
    if (!server) throw onServerOnly(command)
    if (command.name === 'serve') return server.serve(args)
    const program = await server.load(command.name)
    return program!(readWords(command, []), args)
  }
  const call = readWords(command, args)
  if (call.has('help')) return print(helpOf(command))
  const isOfServer = command.isOfServer || (command.isOfServerWithWords && call.words.length > 0)
  if (!isOfServer) {
    exitOnSignals()
    return (await programOf(command))(call)
  }
  const program = await server?.load(command.name)
  if (!program) throw onServerOnly(command)
  return program(call, args)
}

function programOf({ name, load }: Command): Promise<Program> {
  if (!load) throw new Error(`the command ${name} has no program`)
  return load()
}

function help(words: string[], unknownCode: number): void {
  const topic = words.filter((word) => word !== '-h' && word !== '--help')
  if (topic.length === 0 || topic[0] === 'help') return print(overview(COMMANDS))
  if (topic[0] === 'skill') return print(skillText())
  const found = findCommand(COMMANDS, topic)
  if ('unknown' in found) {
    const family = COMMANDS.filter(({ name }) => name.startsWith(`${topic[0]} `))
    if (family.length === 0) throw unknownCommand(topic[0]!, unknownCode)
    return print(family.map(helpOf).join('\n\n'))
  }
  if (found.args.length > 0) throw new Fault(unknownCode, 'deployer help takes one command')
  print(helpOf(found.command))
}

/** The skill file for agents: next to the client, in the client's build next to the server's, or among the sources. */
const SKILL_FILES = ['skill/SKILL.md', '../cli/skill/SKILL.md', '../docs/skill/SKILL.md']

function skillText(): string {
  const folder = dirname(realpathSync(process.argv[1]!))
  const file = SKILL_FILES.map((path) => join(folder, path)).find((path) => existsSync(path))
  if (file === undefined)
    throw new Fault(EXIT.failed, 'the skill file is in the package of the client; see deployer help client')
  return readFileSync(file, 'utf8').trimEnd()
}

function unknownCommand(name: string, exitCode: number): Fault {
  if (looksSecret(name)) return new Fault(exitCode, 'there is no such command; see deployer help')
  const family = COMMANDS.filter((command) => command.name.startsWith(`${name} `))
  if (family.length > 0) {
    const actions = family.map((command) => command.name.slice(name.length + 1)).join(', ')
    return new Fault(exitCode, `deployer ${name} takes one of: ${actions}`)
  }
  const names = COMMANDS.flatMap((command) => [command.name.split(' ')[0]!, ...(command.aliases ?? [])])
  const hint = didYouMean(name, names)
  return new Fault(exitCode, `there is no command ${name}${hint || '; see deployer help'}`)
}

function onServerOnly({ name }: Command): Fault {
  return new Fault(EXIT.wrongWords, `${name} is a command of the server's host; run it there`)
}

function print(text: string): void {
  process.stdout.write(`${text}\n`)
}

/** Errors of the machine, not of the program: permissions, space, open files (errno(3)). */
const MACHINE_ERRORS = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']

/** Reports an error meant for its reader in one line; any other is a fault of the program and keeps its stack. */
function report(error: unknown, argv: readonly string[], server: ServerPrograms | null): void {
  const isExpected = error instanceof Fault || isForReader(error, server)
  const { exitCode, code, message } = isExpected ? asFault(error) : ownFault(error, argv, server)
  // Messages repeat names, answers and files of others. A stack is our own.
  const text = withoutTokens(isExpected ? oneLine(message) : message)
  const end = argv.indexOf('--')
  if (argv.slice(0, end === -1 ? argv.length : end).includes('--json')) {
    process.stderr.write(`${JSON.stringify({ error: { code, message: text, exit_code: exitCode } })}\n`)
  } else process.stderr.write(`deployer: ${text}\n`)
  process.exitCode = exitCode
  // Sockets that are still open must not keep a command that has failed.
  process.exit()
}

function isForReader(error: unknown, server: ServerPrograms | null): boolean {
  const { code } = error as NodeJS.ErrnoException
  return MACHINE_ERRORS.includes(code ?? '') || server?.isExpected(error) === true
}

function asFault(error: unknown): Fault {
  return error instanceof Fault ? error : new Fault(EXIT.failed, (error as Error).message)
}

/** A fault of the program: 70, or 1 for a command of the host. */
function ownFault(error: unknown, argv: readonly string[], server: ServerPrograms | null): Fault {
  const found = server ? findCommand(COMMANDS, argv) : null
  const isOfHost = found !== null && 'command' in found && found.command.isOfServer === true
  const text = String((error as Error).stack ?? error)
  return new Fault(isOfHost ? EXIT.failed : EXIT.ownFault, text, { code: 'internal_error' })
}

/**
 * Keeps running when output is lost: a reader may close a pipe early, which ends a command at once and silently, and a full
 * disk must not end a server because of its log. If output was lost for another reason, it is reported, and a command that
 * ends by itself fails; a server that was stopped normally does not.
 */
function surviveLostOutput(isServer: boolean): void {
  let isReported = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE') {
      if (!isServer) process.exit(0)
      return
    }
    if (isReported) return
    isReported = true
    process.stderr.write(`deployer: cannot write to standard output: ${message}\n`)
    if (!isServer) process.once('exit', (status) => (process.exitCode = status || EXIT.failed))
  })
  process.stderr.on('error', () => {
    // There is no place left to report it.
  })
}
