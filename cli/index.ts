import { AppError, messageOf } from '#server/errors.ts'
import { parseWords } from '#server/options/flags.ts'
import { VERSION } from '#server/version.ts'
import { helpText, unknownCommand } from './help.ts'
import { keptSettings } from './install/settings.ts'

type Command = (argv: string[]) => Promise<number>

/** Commands that end by themselves; each is loaded when it is asked for. */
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

/** As other programs are asked. */
const ALIASES = new Map([
  ['--help', 'help'],
  ['-h', 'help'],
  ['--version', 'version'],
  ['-v', 'version'],
])

/** Commands about the server that is there: they start from the settings that `deployer install` has kept. */
const OF_THE_INSTALLED = ['reset-password', 'ssh-key', 'stop', 'status', 'proxy']

/**
 * Runs `deployer <command>`. Whatever it throws for a person ends as one line and exit code 1; anything else is a fault
 * of the program and keeps its stack.
 */
export async function runCommand(argv: string[], serve: (argv: string[]) => Promise<void>): Promise<void> {
  const [name = 'help', ...rest] = argv
  const wanted = ALIASES.get(name) ?? name
  const asksForHelp = wanted !== 'help' && rest.some((word) => ALIASES.get(word) === 'help')
  outliveReaders(wanted === 'serve' && !asksForHelp)
  try {
    if (asksForHelp) return void print(helpText(wanted))
    if (wanted === 'serve') return await serve(rest)
    const command = COMMANDS.get(wanted)
    if (!command) throw unknownCommand(name)
    if (OF_THE_INSTALLED.includes(wanted)) takeKeptSettings()
    process.exitCode = await command(rest)
  } catch (error) {
    const text = isForPeople(error) ? messageOf(error) : String((error as Error).stack ?? error)
    process.stderr.write(`deployer: ${text}\n`)
    process.exit(1)
  }
}

/** What the machine refuses and not the program: permissions, room, files that may be open (errno(3)). */
const OF_THE_MACHINE = ['EACCES', 'EPERM', 'EROFS', 'ENOSPC', 'EDQUOT', 'EIO', 'EMFILE', 'ENFILE']

function isForPeople(error: unknown): boolean {
  return error instanceof AppError || OF_THE_MACHINE.includes((error as NodeJS.ErrnoException).code ?? '')
}

/**
 * Goes on when what it prints reaches nobody: who has read enough ends a pipe, and a full disk ends no server because of
 * its log. What is lost to anything but a reader is told, and a command that ends by itself then fails; a server that was
 * ended in order has not.
 */
function outliveReaders(isServer: boolean): void {
  let isTold = false
  process.stdout.on('error', ({ code, message }: NodeJS.ErrnoException) => {
    if (code === 'EPIPE' || isTold) return
    isTold = true
    process.stderr.write(`deployer: standard output cannot be written: ${message}\n`)
    if (!isServer) process.once('exit', (status) => (process.exitCode = status || 1))
  })
  process.stderr.on('error', () => {
    // There is nowhere left to say it.
  })
}

/** A variable of the environment wins over the kept one; who may not read those goes without. */
function takeKeptSettings(): void {
  try {
    process.env = { ...keptSettings(), ...process.env }
  } catch {
    // Another user's, or broken: `deployer install` says so.
  }
}

function print(text: string): number {
  process.stdout.write(`${text}\n`)
  return 0
}
