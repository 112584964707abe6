import { execFile, spawn } from 'node:child_process'
import { closeSync, existsSync, openSync, readFileSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { AppError, messageOf } from '#server/errors.ts'
import type { Start } from '#server/upgrade/record.ts'
import { CONTROL_UNIT } from '../install/layout.ts'
import { environmentOf } from '../install/running-process.ts'
import { unitState } from '../install/systemd.ts'
import type { RunningServer } from '../running.ts'

const ENTRY = '/server/index.mjs'
/** More than `deployer install` itself waits for a server. */
const INSTALL_LIMIT_MS = 5 * 60_000

/** How the running server was started. Throws `conflict` when this command cannot start another in its place. */
export async function startOf({ pid }: RunningServer): Promise<Start> {
  const environment = environmentOf(pid)
  // As systemd.io/CONTAINER_INTERFACE has it.
  if (pid === 1 || environment.container)
    throw new AppError(
      'conflict',
      'the server runs in a container: upgrade it by starting the newer image on the same volume',
    )
  const words = readWords(pid)
  const directory = readlinkSync(`/proc/${pid}/cwd`)
  const command = words.map((word) => entryOf(resolve(directory, word)) ?? word)
  const at = entryIn(command)
  if (at === -1) throw new AppError('io_error', `process ${pid} is not a built server: ${command.join(' ')}`)
  if (statSync(`/proc/${pid}`).uid !== process.getuid?.())
    throw new AppError('invalid_request', 'the server runs as another user: run this as that user')
  const isUnit = existsSync('/run/systemd/system') && (await unitState(CONTROL_UNIT)).pid === pid
  // As the kernel marks a program whose file was replaced since (proc_pid_exe(5)).
  const node = readlinkSync(`/proc/${pid}/exe`).replace(/ \(deleted\)$/, '')
  if (isUnit) return { by: 'systemd', node, entry: command[at]! }
  const output = readlinkSync(`/proc/${pid}/fd/1`)
  return {
    by: 'hand',
    command: [node, ...command.slice(1)],
    environment,
    directory,
    output,
  }
}

/** The folder of the program that a start runs. */
export function folderOf(start: Start): string {
  const entry = start.by === 'systemd' ? start.entry : start.command[entryIn(start.command)]!
  return dirname(dirname(entry))
}

/** The same start with the program of an unpacked release. */
export function withProgram(start: Start, folder: string): Start {
  const [node, entry] = [join(folder, 'node'), join(folder, 'server/index.mjs')]
  if (start.by === 'systemd') return { by: 'systemd', node, entry }
  const at = entryIn(start.command)
  return { ...start, command: [node, ...start.command.slice(1, at), entry, ...start.command.slice(at + 1)] }
}

/**
 * Starts a program as a server in place of what runs: by its own `install`, which waits until it is ready, or by hand, after
 * what ran has ended. Returns the process, if it was started by hand. Throws `io_error` with what it said.
 */
export async function startServer(start: Start, dataDirectory: string): Promise<number | null> {
  if (start.by === 'hand') return spawnServer(start, dataDirectory)
  // Settings that this command has in its environment are not to be saved.
  const { PATH, HOME } = process.env
  try {
    await promisify(execFile)(start.node, [start.entry, 'install'], {
      env: { PATH, HOME },
      timeout: INSTALL_LIMIT_MS,
    })
    return null
  } catch (cause) {
    const { stderr, message } = cause as { stderr?: string; message: string }
    throw new AppError('io_error', stderr?.trim() || message, { cause })
  }
}

function spawnServer(start: Start & { by: 'hand' }, dataDirectory: string): number | null {
  const [program = '', ...words] = start.command
  const output = openOutput(start.output, dataDirectory)
  try {
    const child = spawn(program, words, {
      cwd: start.directory,
      env: start.environment,
      detached: true,
      stdio: ['ignore', output, output],
    })
    // It is seen by the server's own file that it does not become ready.
    child.on('error', () => {})
    child.unref()
    return child.pid ?? null
  } finally {
    closeSync(output)
  }
}

/** Opens the file or terminal that the former server printed to; what was a pipe has ended with its reader. */
function openOutput(path: string, dataDirectory: string): number {
  try {
    if (path.startsWith('/')) return openSync(path, 'a')
  } catch {
    // Its folder or terminal is gone.
  }
  return openSync(join(dataDirectory, 'server.log'), 'a', 0o600)
}

/** Where the program is among the words of a command. */
function entryIn(command: string[]): number {
  return command.findIndex((word) => word.endsWith(ENTRY))
}

/** The program's own file, if a path leads there. */
function entryOf(path: string): string | null {
  try {
    const file = realpathSync(path)
    return file.endsWith(ENTRY) ? file : null
  } catch {
    return null
  }
}

function readWords(pid: number): string[] {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0').slice(0, -1)
  } catch (cause) {
    throw new AppError('io_error', `cannot see the server's process ${pid}: ${messageOf(cause)}`, { cause })
  }
}
