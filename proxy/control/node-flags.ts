import { spawnSync } from 'node:child_process'
import { existsSync, statSync } from 'node:fs'

/** The long-running processes. */
export type Role = 'supervisor' | 'worker'

/** Flags for both roles, if their node knows them. */
const COMMON_FLAGS = [
  // Initial MiB of the young generation: starting up needs no collection then, and the room for a first one is never
  // touched.
  '--min-semi-space-size=2',
  // Compiler threads, 4 by default. There are as many workers as cores.
  '--v8-pool-size=1',
  // The collector's threads would take a worker's core, and wait for each other.
  '--single-threaded-gc',
  // Calls after which V8 uses its second-best compiler, 400 by default. The search for the program alone calls one function
  // often enough to load that compiler, 2.3 MiB. A busy worker reaches any number in no time.
  '--invocation-count-for-maglev=1200',
]

/** Flags by role. */
export const FLAGS: Record<Role, readonly string[]> = {
  worker: [
    ...COMMON_FLAGS,
    // Max MiB of the young generation, 16 by default. What survives of a new table is copied in one go: with 16, requests
    // waited up to 20 ms for that, and idle connections seemed to cost twice as much.
    '--max-semi-space-size=2',
    // MiB of heap below which there is no full collection. Otherwise the first large table exceeds the small heap that a
    // worker starts with, and requests wait 10 ms for the collector. Unused heap takes no memory.
    '--initial-heap-size=32',
  ],
  supervisor: [
    ...COMMON_FLAGS,
    // What it reads of a table is garbage once the workers have it, and only the table waits for this collector.
    '--max-semi-space-size=8',
    // It holds the current table and the next one: some 10 MiB for 10,000 hosts.
    '--initial-heap-size=64',
  ],
}

/** Long enough for any node to print its version. */
const VERSION_TIMEOUT_MS = 5_000
/** The exit code of a node that does not know an option ("Invalid Argument" in node's documentation of exit codes). */
const INVALID_ARGUMENT = 9

/** Flags that a node does not know, by identity of its file: workers are started with the same one again and again. */
const known = new Map<string, ReadonlySet<string>>()

/** The node to run, and its flags before the program. */
export interface NodeCommand {
  executable: string
  flags: readonly string[]
}

/** Returns how the node at `node` runs a process of a role; `onDropped` gets the flags that it does not know, once. */
export function commandFor(node: string, role: Role, onDropped?: OnDropped): NodeCommand {
  const executable = presentNode(node)
  return { executable, flags: flagsFor(executable, role, onDropped) }
}

type OnDropped = (dropped: string[]) => void

/** Returns a path to the node. A system upgrade may have removed the file of the running one; the kernel still has it. */
export function presentNode(node: string): string {
  return existsSync(node) ? node : '/proc/self/exe'
}

/**
 * Returns the flags of a role that this node knows: V8's flags come and go with its versions, and node refuses to start with
 * one that is gone. The node is asked once, which blocks this process meanwhile.
 */
export function flagsFor(executable: string, role: Role, onDropped?: OnDropped): readonly string[] {
  const { dev, ino, mtimeMs } = statSync(executable)
  const key = `${dev} ${ino} ${mtimeMs}`
  let unknown = known.get(key)
  if (!unknown) {
    known.set(key, (unknown = unknownTo(executable)))
    if (unknown.size > 0) onDropped?.([...unknown])
  }
  return FLAGS[role].filter((flag) => !unknown.has(flag))
}

function unknownTo(executable: string): ReadonlySet<string> {
  const flags = [...new Set([...FLAGS.worker, ...FLAGS.supervisor])]
  if (takes(executable, flags)) return new Set()
  return new Set(flags.filter((flag) => !takes(executable, [flag])))
}

/** False if the node refuses the flags; no answer from node proves nothing. */
function takes(executable: string, flags: readonly string[]): boolean {
  const options = { stdio: 'ignore', timeout: VERSION_TIMEOUT_MS } as const
  return spawnSync(executable, [...flags, '--version'], options).status !== INVALID_ARGUMENT
}
