import { spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { constants as system } from 'node:os'
import { delimiter, join } from 'node:path'
import type { Datastore } from '#server/datastores/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault } from '../../fault.ts'
import { onInterrupt } from '../../interrupts.ts'
import { findDatastore } from '../datastore.ts'
import { withOwnFaults } from '../own-faults.ts'
import { shown } from '../secrets.ts'
import { listenFor, wayTo } from '../way-to-datastore.ts'

/** As shells say that there is no such program, and that it ended by a signal. */
const NO_PROGRAM = 127
const SIGNALED = 128

interface Client {
  /** The first of them that is installed is run. */
  programs: readonly string[]
  /** What to install. */
  advice: string
  words: (port: number) => string[]
  /** The password is here alone: everybody on this computer sees the words of a program. */
  environment: (datastore: Datastore, port: number) => NodeJS.ProcessEnv
}

const CLIENTS: Readonly<Record<Datastore['kind'], Client>> = {
  relational: {
    programs: ['psql'],
    advice: 'install postgresql-client (Debian, Ubuntu) or libpq (Homebrew)',
    words: () => [],
    environment: ({ username, password, database }, port) => ({
      PGHOST: '127.0.0.1',
      PGPORT: String(port),
      PGUSER: username,
      PGPASSWORD: shown(password),
      PGDATABASE: database ?? username,
      // These would lead to another server.
      PGHOSTADDR: undefined,
      PGSERVICE: undefined,
    }),
  },
  keyvalue: {
    programs: ['valkey-cli', 'redis-cli'],
    advice: 'install valkey-tools or redis-tools (Debian, Ubuntu), or valkey (Homebrew)',
    words: (port) => ['-h', '127.0.0.1', '-p', String(port)],
    // Valkey's own name goes before that of Redis.
    environment: ({ password }) => ({ REDISCLI_AUTH: shown(password), VALKEYCLI_AUTH: shown(password) }),
  },
}

/** Runs the client program of a datastore, and ends with its code. */
export async function connect(call: Call): Promise<number> {
  const { api, target, datastore } = await withOwnFaults(() => findDatastore(call))
  shown(datastore.password)
  const client = CLIENTS[datastore.kind]
  const program = client.programs.map(pathOf).find((path) => path !== null)
  if (!program)
    throw new Fault(
      NO_PROGRAM,
      `${client.programs.join(' or ')} is not installed; ${client.advice}, or use deployer db proxy ${datastore.name}`,
    )
  const report = (fault: Error) => call.out.foreign(`deployer: ${fault.message}`)
  const { way, listening } = await withOwnFaults(async () => {
    const way = await wayTo(call, api, target, datastore)
    return { way, listening: way.port === null ? await listenFor(way, 0, report) : null }
  })
  const port = way.port ?? listening!.port
  const env = { ...process.env, ...client.environment(datastore, port) }
  try {
    return await withOwnFaults(() => run(program, [...client.words(port), ...(call.rest ?? [])], env))
  } finally {
    listening?.close()
    way.close()
    api.close()
  }
}

/** Runs a program on this terminal instead of this one. Returns its exit code. */
function run(program: string, words: string[], env: NodeJS.ProcessEnv): Promise<number> {
  const child = spawn(program, words, { stdio: 'inherit', env })
  // The terminal sends these to the program as well, which knows what they mean.
  onInterrupt(() => {})
  process.on('SIGQUIT', () => {})
  process.removeAllListeners('SIGTERM')
  for (const signal of ['SIGTERM', 'SIGHUP'] as const) process.on(signal, () => child.kill(signal))
  return new Promise((resolve, reject) => {
    child.once('error', (cause) =>
      reject(new Fault(EXIT.failed, `${program} cannot be run: ${cause.message}`, { cause })),
    )
    child.once('exit', (code, signal) =>
      resolve(code ?? SIGNALED + (signal === null ? 0 : system.signals[signal])),
    )
  })
}

/** The file of a command; null if it is not installed. */
function pathOf(name: string): string | null {
  const file = process.platform === 'win32' ? `${name}.exe` : name
  for (const folder of (process.env.PATH ?? '').split(delimiter).filter(Boolean)) {
    const path = join(folder, file)
    try {
      accessSync(path, constants.X_OK)
      return path
    } catch {
      // Not in this folder.
    }
  }
  return null
}
