import { spawn, spawnSync, type ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { SupervisorSettings } from './protocol.ts'

/**
 * MiB of the young generation. By default it grows to 16: what of a new table outlives it is copied in one go, for which
 * requests waited up to 20 ms, and connections that idle seem to cost twice what they do.
 */
const YOUNG_FLAG = '--max-semi-space-size=2'
/** There are as many workers as cores: a collector's threads would take the core of another, and wait for each other. */
const COLLECTOR_FLAG = '--single-threaded-gc'

/** Long enough for any node to say its version. */
const VERSION_TIMEOUT_MS = 5_000

/** The first descriptor after standard input, output and error. */
const FIRST_FD = 3

/** A listening socket by its descriptor in this process. */
export interface HeldSocket {
  address: string
  fd: number
}

/** Settings of a worker, its only command line argument beside the role. */
export interface WorkerSettings {
  data_directory: string
  version: string
  sockets: HeldSocket[]
  /** The node on which accepted connections were seen to share a read buffer; null for none. */
  buffer_shared_on: string | null
}

/** Starts a worker that inherits the listening sockets. Its output is this process's. */
export function spawnWorker(settings: WorkerSettings): ChildProcess {
  const { sockets } = settings
  return launch(
    process.execPath,
    process.argv[1]!,
    'worker',
    { ...settings, sockets: renumber(sockets) },
    sockets,
    false,
  )
}

/** Starts a supervisor, which lives on without this process, with the listening sockets. */
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
 * The same by way of a process that ends at once: the supervisor is then the init process's child, not this one's, and a
 * service manager learns of its end.
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

/** What the starter does. */
export function startSupervisor(settings: SupervisorSettings): void {
  spawnSupervisor(process.execPath, process.argv[1]!, settings, settings.inherited)
}

function renumber(sockets: HeldSocket[]): HeldSocket[] {
  return sockets.map(({ address }, index) => ({ address, fd: FIRST_FD + index }))
}

function launch(
  node: string,
  program: string,
  role: string,
  settings: object,
  sockets: HeldSocket[],
  detached: boolean,
): ChildProcess {
  // An upgrade of the host may have removed the file of the node that runs; the kernel still has it.
  const executable = existsSync(node) ? node : '/proc/self/exe'
  return spawn(executable, [...flagsFor(executable), program, role, JSON.stringify(settings)], {
    detached,
    stdio: ['ignore', 'inherit', 'inherit', ...sockets.map(({ fd }) => fd)],
  })
}

/** The flags that this node knows: V8's come and go with its versions, and node does not start with one that is gone. */
function flagsFor(executable: string): string[] {
  const flags = [YOUNG_FLAG, COLLECTOR_FLAG]
  return starts(executable, flags) ? flags : flags.filter((flag) => starts(executable, [flag]))
}

function starts(executable: string, flags: readonly string[]): boolean {
  const options = { stdio: 'ignore', timeout: VERSION_TIMEOUT_MS } as const
  return spawnSync(executable, [...flags, '--version'], options).status === 0
}
