import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { connectChannel, type Channel } from '#proxy/control/channel.ts'
import { proxyDirectory, workerSocketFiles } from '#proxy/control/paths.ts'
import { commandFor } from '#proxy/control/node-flags.ts'
import type { SupervisorSettings } from '#proxy/protocol.ts'
import { writePrivateFile } from '#server/files.ts'

/** Programs of earlier versions that are kept, because workers of theirs may still run. */
const KEPT_PROGRAMS = 3
const SERVER_ID_FILE = 'server_id'
/** A worker that does not answer within this hangs. */
const WORKER_ANSWER_MS = 3_000

/** The proxy program that is run, and the version that distinguishes it from any other. */
export interface Program {
  file: string
  version: string
}

/**
 * Copies a bundled program into the data directory, named by its content, so that an upgrade of the server cannot
 * replace the file under a running data plane. A program of several files is run in place.
 */
export function stageProgram(dataDirectory: string, source: string, version: string): Program {
  const content = readFileSync(source)
  const hash = createHash('sha256').update(content).digest('hex').slice(0, 12)
  const staged = { file: source, version: `${version}+${hash}` }
  if (!source.endsWith('.mjs')) return staged
  const directory = proxyDirectory(dataDirectory)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  staged.file = join(directory, `program-${hash}.mjs`)
  const temporary = `${staged.file}.${process.pid}.tmp`
  writeFileSync(temporary, content, { mode: 0o600 })
  renameSync(temporary, staged.file)
  removeOldPrograms(directory)
  return staged
}

function removeOldPrograms(directory: string): void {
  const programs = readdirSync(directory)
    .filter((name) => /^program-[0-9a-f]+\.mjs$/.test(name))
    .map((name) => ({ file: join(directory, name), written: statSync(join(directory, name)).mtimeMs }))
    .sort((left, right) => right.written - left.written)
  for (const { file } of programs.slice(KEPT_PROGRAMS)) rmSync(file, { force: true })
}

/** Stores to which server a data directory's data plane belongs, for a start of it without the database. */
export function keepServerId(dataDirectory: string, serverId: string): void {
  if (keptServerId(dataDirectory) !== serverId)
    writePrivateFile(join(proxyDirectory(dataDirectory), SERVER_ID_FILE), `${serverId}\n`)
}

/** Returns the server to which a data directory's data plane belongs; null if no server has used it yet. */
export function keptServerId(dataDirectory: string): string | null {
  try {
    return readFileSync(join(proxyDirectory(dataDirectory), SERVER_ID_FILE), 'utf8').trim()
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null
    throw error
  }
}

/** Returns a connection to each worker that is still running in the data directory. */
export async function livingWorkers(dataDirectory: string): Promise<Channel[]> {
  const channels = await Promise.all(
    workerSocketFiles(dataDirectory).map(({ file }) => connectChannel(file, () => null).catch(() => null)),
  )
  return channels.filter((channel) => channel !== null)
}

/**
 * Starts a supervisor: from a running worker that still holds the listening sockets, so that no connection is lost; if
 * there is none, with `maySpawn`, as a new process that opens them. `failed` rejects if the new process ends at once.
 */
export async function startSupervisor(
  node: string,
  program: Program,
  settings: SupervisorSettings,
  maySpawn: boolean,
): Promise<{ failed: Promise<never> }> {
  const workers = await livingWorkers(settings.data_directory)
  try {
    for (const worker of workers) {
      const ask = { node, program: program.file, settings }
      const started = await worker.request('start_supervisor', ask, WORKER_ANSWER_MS).then(
        () => true,
        () => false,
      )
      if (started) return { failed: new Promise<never>(() => {}) }
    }
  } finally {
    for (const worker of workers) worker.close()
  }
  if (!maySpawn)
    throw new Error(`no data plane is running in ${settings.data_directory}: its own unit must start it`)
  return { failed: spawnDetached(node, program, settings) }
}

function spawnDetached(node: string, program: Program, settings: SupervisorSettings): Promise<never> {
  const directory = proxyDirectory(settings.data_directory)
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const logFile = join(directory, 'proxy.log')
  // The supervisor reports flags that node does not know when it starts its workers.
  const { executable, flags } = commandFor(node, 'supervisor')
  const output = openSync(logFile, 'a', 0o600)
  // The environment contains the server's secrets, and the proxy needs nothing else of it.
  const { PATH, TZ, DEPLOYER_PROXY_POISON } = process.env
  const child = spawn(executable, [...flags, program.file, 'supervisor', JSON.stringify(settings)], {
    detached: true,
    cwd: settings.data_directory,
    env: { PATH, TZ, DEPLOYER_PROXY_POISON },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  child.unref()
  return new Promise<never>((_, reject) => {
    child.once('error', (error) => reject(new Error(`the proxy cannot be started: ${error.message}`)))
    child.once('exit', (code, signal) => {
      reject(new Error(`the proxy exited while starting (${signal ?? `exit code ${code}`}); see ${logFile}`))
    })
  })
}
