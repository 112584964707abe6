import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

/** The processes that last. */
export type Role = 'supervisor' | 'worker'

/** What both are started with, where their node knows it. */
const OF_BOTH = [
  // MiB of the young generation from the start: what a process is until then needs no collection, and the room for one
  // is not touched.
  '--min-semi-space-size=2',
  // Threads that compile, four by default. There are as many workers as cores.
  '--v8-pool-size=1',
  // A collector's threads would take the core of a worker, and wait for each other.
  '--single-threaded-gc',
  // Calls, 400 by default, after which V8 compiles by its second best compiler. The search for the program alone has
  // one function called so often that this is loaded: 2.3 MiB, where a worker at work reaches any number in no time.
  '--invocation-count-for-maglev=1200',
]

/** What each is started with. */
export const FLAGS: Record<Role, readonly string[]> = {
  worker: [
    ...OF_BOTH,
    // MiB of the young generation. By default it grows to 16: what of a new table outlives it is copied in one go, for
    // which requests waited up to 20 ms, and connections that idle seem to cost twice what they do.
    '--max-semi-space-size=2',
    // MiB of the heap below which all of it is not collected: otherwise the first large table is more than the little
    // that a worker has begun with, and requests wait for 10 ms of collector. What is not needed takes no memory.
    '--initial-heap-size=32',
  ],
  supervisor: [
    ...OF_BOTH,
    // What it reads of a table is gone when the workers have it, and nobody waits for this collector but the table.
    '--max-semi-space-size=8',
    // It keeps the table that is served and the one that comes, of 10,000 hosts some 10 MiB.
    '--initial-heap-size=64',
  ],
}

/** Long enough for any node to say its version. */
const VERSION_TIMEOUT_MS = 5_000
/** With which node refuses an option that it does not know ("Invalid Argument", exit codes of node's process). */
const INVALID_ARGUMENT = 9

/** Flags that a node does not know, by its file as it was then: workers are started by the same one again and again. */
const known = new Map<string, ReadonlySet<string>>()

/** The file of a node to run and what it is given before the program. */
export interface NodeCommand {
  executable: string
  flags: readonly string[]
}

/** How a process of a role is run by the node at `node`; `tell` hears of flags that it does not know, once. */
export function commandFor(node: string, role: Role, tell?: Tell): NodeCommand {
  const executable = presentNode(node)
  return { executable, flags: flagsFor(executable, role, tell) }
}

type Tell = (dropped: string[]) => void

/** An upgrade of the host may have removed the file of the node that runs; the kernel still has it. */
export function presentNode(node: string): string {
  return existsSync(node) ? node : '/proc/self/exe'
}

/**
 * The flags of a role that the node of this file knows: V8's come and go with its versions, and node does not start with
 * one that is gone. Asked once for each node, which holds up everything else meanwhile.
 */
export function flagsFor(executable: string, role: Role, tell?: Tell): readonly string[] {
  const { dev, ino, mtimeMs } = statSync(executable)
  const key = `${dev} ${ino} ${mtimeMs}`
  let unknown = known.get(key)
  if (!unknown) {
    known.set(key, (unknown = unknownTo(executable)))
    if (unknown.size > 0) tell?.([...unknown])
  }
  return FLAGS[role].filter((flag) => !unknown.has(flag))
}

function unknownTo(executable: string): ReadonlySet<string> {
  const flags = [...new Set([...FLAGS.worker, ...FLAGS.supervisor])]
  if (takes(executable, flags)) return new Set()
  return new Set(flags.filter((flag) => !takes(executable, [flag])))
}

/** False when the node refuses the flags; one that does not answer says nothing about them. */
function takes(executable: string, flags: readonly string[]): boolean {
  const options = { stdio: 'ignore', timeout: VERSION_TIMEOUT_MS } as const
  return spawnSync(executable, [...flags, '--version'], options).status !== INVALID_ARGUMENT
}
