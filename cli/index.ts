import { AppError, messageOf } from '#server/errors.ts'
import { parseWords } from '#server/options/flags.ts'
import { VERSION } from '#server/version.ts'
import { helpText, unknownCommand } from './help.ts'
import { keptSettings } from './install/settings.ts'

type Command = (argv: string[]) => Promise<number>

/** Commands that end by themselves; each is loaded on demand. */
const COMMANDS = new Map<string, Command>(
  Object.entries<Command>({
    'reset-password': async (argv) => (await import('./reset-password.ts')).resetPassword(argv),
    'ssh-key': async (argv) => (await import('./ssh-key.ts')).printSshKey(argv),
    stop: async (argv) => (await import('./stop.ts')).stop(argv),
    proxy: async (argv) => (await import('./proxy.ts')).proxy(argv),
    install: async (argv) => (await import('./install/install.ts')).install(argv),
    uninstall: async (argv) => (await import('./install/uninstall.ts')).uninstall(argv),
    status: async (argv) => (await import('./install/status.ts')).status(argv),
    version: async (argv) => {
      parseWords('version', argv, { texts: [], switches: [] })
      return print(VERSION)
    },
    help: async (argv) => {
      const words = argv.filter((word) => ALIASES.get(word) !== 'help')
      if (words.length > 1) throw new AppError('invalid_request', 'deployer help takes one command')
      return print(helpText(words[0]))
    },
  }),
)

/** Common spellings in other programs. */
const ALIASES = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
  ['-v', 'version'],
])

/** Commands about an installed server: they use the settings that `deployer install` has saved. */
const COMMANDS_OF_INSTALLED = ['reset-password', 'ssh-key', 'stop', 'status', 'proxy']

/**
 * Runs `deployer <command>`. An error meant for users becomes one line and exit code 1; any other error is a fault of the
 * program and keeps its stack.
 */
export async function runCommand(argv: string[], serve: (argv: string[]) => Promise<void>): Promise<void> {
  const [name = 'help', ...rest] = argv
  const wanted = ALIASES.get(name) ?? name
  const asksForHelp = wanted !== 'help' && rest.some((word) => ALIASES.get(word) === 'help')
  surviveLostOutput(wanted === 'serve' && !asksForHelp)
  try {
    if (asksForHelp) return void print(helpText(wanted))
    if (wanted === 'serve') return await serve(rest)
    const command = COMMANDS.get(wanted)
    if (!command) throw unknownCommand(name)
    if (COMMANDS_OF_INSTALLED.includes(wanted)) useKeptSettings()
    process.exitCode = await command(rest)
  } catch (error) {
    const text = isExpected(error) ? messageOf(error) : String((error as Error).stack ?? error)
    process.stderr.write(`deployer: ${text}\n`)
    process.exit(1)
  }
}

/** Errors of the machine, not of the program: permissions, space, open files (errno(3)). */
const MACHINE_ERRORS = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']

function isExpected(error: unknown): boolean {
  return error instanceof AppError || MACHINE_ERRORS.includes((error as NodeJS.ErrnoException).code ?? '')
}

/**
 * Keeps running when output is lost: a reader may close a pipe early, and a full disk must not end a server because of its
 * log. If output was lost for another reason than a closed pipe, it is reported, and a command that ends by itself fails; a
 * server that was stopped normally does not.
 */
function surviveLostOutput(isServer: boolean): void {
  let isReported = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || isReported) return
    isReported = true
    process.stderr.write(`deployer: cannot write to standard output: ${message}\n`)
    if (!isServer) process.once('exit', (status) => (process.exitCode = status || 1))
  })
  process.stderr.on('error', () => {
    // There is no place left to report it.
  })
}

/** Uses the saved settings, which variables of the environment override. A user who may not read them goes without. */
function useKeptSettings(): void {
  try {
    process.env = { ...keptSettings(), ...process.env }
  } catch {
    // They belong to another user, or are broken: `deployer install` reports that.
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
