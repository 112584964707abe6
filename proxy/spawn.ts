import { spawn, type ChildProcess } from 'node:child_process'
import { comeAfterRequests } from './control/priority.ts'
import type { CountsPlace } from './control/shared-counts.ts'
import { commandFor, presentNode, type Role } from './control/node-flags.ts'
import { log } from './log.ts'
import type { SupervisorSettings } from './protocol.ts'

/**
 * How many free bytes a process may keep at the end of its heap: the default, but fixed. Otherwise the C library raises it
 * with the first large block that is freed (mallopt(3), M_TRIM_THRESHOLD), and a worker frees 1 MiB once its program is
 * loaded.
 */
const MALLOC = { MALLOC_TRIM_THRESHOLD_: '131072' }

/** The first descriptor after standard input, output and error. */
const FIRST_FD = 3

/** A listening socket by its descriptor in this process. */
export interface HeldSocket {
  address: string
  fd: number
}

/** Settings of a worker, its only command line argument besides the role. */
export interface WorkerSettings {
  data_directory: string
  version: string
  sockets: HeldSocket[]
  /** The node version on which accepted connections were seen to share a read buffer; null if none. */
  buffer_shared_on: string | null
  /** How many workers serve. */
  workers: number
  /** Where it counts together with the other workers; null if it counts alone. */
  counts: CountsPlace | null
}

/** Starts a worker that inherits the listening sockets and the shared counts. Its output is this process's. */
export function spawnWorker(settings: WorkerSettings): ChildProcess {
  const { sockets, counts } = settings
  const given = {
    ...settings,
    sockets: renumber(sockets),
    counts: counts && { ...counts, fd: FIRST_FD + sockets.length },
  }
  const inherited = counts ? [...sockets, counts] : sockets
  return launch(process.execPath, process.argv[1]!, 'worker', given, inherited, false)
}

/** Starts a supervisor with the listening sockets. It keeps running without this process. */
export function spawnSupervisor(
  node: string,
  program: string,
  settings: SupervisorSettings,
  sockets: HeldSocket[],
): ChildProcess {
  const child = launch(
    node,
    program,
    'supervisor',
    { ...settings, inherited: renumber(sockets) },
    sockets,
    true,
  )
  child.unref()
  return child
}

/**
 * Starts a supervisor through a process that ends at once. The supervisor is then a child of the init process, not of this
 * one, so that a service manager notices its end.
 */
export function spawnStarter(
  node: string,
  program: string,
  settings: SupervisorSettings,
  sockets: HeldSocket[],
): ChildProcess {
  const child = launch(node, program, 'starter', { ...settings, inherited: renumber(sockets) }, sockets, true)
  child.unref()
  return child
}

/** Runs the starter. */
export function startSupervisor(settings: SupervisorSettings): void {
  comeAfterRequests()
  spawnSupervisor(process.execPath, process.argv[1]!, settings, settings.inherited)
}

function renumber(sockets: HeldSocket[]): HeldSocket[] {
  return sockets.map(({ address }, index) => ({ address, fd: FIRST_FD + index }))
}

function launch(
  node: string,
  program: string,
  role: Role | 'starter',
  settings: object,
  inherited: readonly { fd: number }[],
  detached: boolean,
): ChildProcess {
  // A starter lives for a moment, and asking a node for its flags would block the worker that starts it, which serves
  // others.
  const { executable, flags } =
    role === 'starter' ? { executable: presentNode(node), flags: [] } : commandFor(node, role, logDropped)
  return spawn(executable, [...flags, program, role, JSON.stringify(settings)], {
    detached,
    env: { ...process.env, ...(role === 'worker' && MALLOC) },
    stdio: ['ignore', 'inherit', 'inherit', ...inherited.map(({ fd }) => fd)],
  })
}

function logDropped(dropped: string[]): void {
  log('warn', 'this node does not support some V8 flags; starting without them', { dropped })
}
