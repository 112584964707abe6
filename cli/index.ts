import { AppError, messageOf } from '#server/errors.ts'
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
    version: () => Promise.resolve(print(VERSION)),
    help: (argv) => Promise.resolve(print(helpText(argv.find((word) => ALIASES.get(word) !== 'help')))),
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
const OF_THE_INSTALLED = ['reset-password', 'ssh-key', 'stop', 'status']

/**
 * Runs `deployer <command>`. Whatever it throws for a person ends as one line and exit code 1; anything else is a fault
 * of the program and keeps its stack.
 */
export async function runCommand(argv: string[], serve: (argv: string[]) => Promise<void>): Promise<void> {
  const [name = 'help', ...rest] = argv
  const wanted = ALIASES.get(name) ?? name
  try {
    if (wanted !== 'help' && rest.some((word) => ALIASES.get(word) === 'help'))
      return void print(helpText(wanted))
    if (wanted === 'serve') return await serve(rest)
    const command = COMMANDS.get(wanted)
    if (!command) throw unknownCommand(name)
    if (OF_THE_INSTALLED.includes(wanted)) takeKeptSettings()
    process.exitCode = await command(rest)
  } catch (error) {
    const text = error instanceof AppError ? messageOf(error) : String((error as Error).stack ?? error)
    process.stderr.write(`deployer: ${text}\n`)
    process.exit(1)
  }
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
