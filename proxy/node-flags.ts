import { spawnSync } from 'node:child_process'
import { statSync } from 'node:fs'
import { log } from './log.ts'

/** What workers and their supervisor are started with, where their node knows it. */
export const FLAGS: readonly string[] = [
  // MiB of the young generation. By default it grows to 16: what of a new table outlives it is copied in one go, for
  // which requests waited up to 20 ms, and connections that idle seem to cost twice what they do.
  '--max-semi-space-size=2',
  // From the start: what a worker is until then needs no collection, and the room for one is not touched.
  '--min-semi-space-size=2',
  // Threads that compile, four by default. There are as many workers as cores.
  '--v8-pool-size=1',
  // A collector's threads would take the core of another worker, and wait for each other.
  '--single-threaded-gc',
  // Calls, 400 by default, after which V8 compiles by its second best compiler. The search for the program alone has
  // one function called so often that this is loaded: 2.3 MiB, where a worker at work reaches any number in no time.
  '--invocation-count-for-maglev=1200',
]

/** Long enough for any node to say its version. */
const VERSION_TIMEOUT_MS = 5_000
/** With which node refuses an option that it does not know ("Invalid Argument", exit codes of node's process). */
const INVALID_ARGUMENT = 9

/** By the file of a node as it was then: workers are started by the same one again and again. */
const known = new Map<string, readonly string[]>()

/**
 * The flags that the node of this file knows: V8's come and go with its versions, and node does not start with one that
 * is gone. Asked once for each node, which holds up everything else meanwhile.
 */
export function flagsFor(executable: string): readonly string[] {
  const { dev, ino, mtimeMs } = statSync(executable)
  const key = `${dev} ${ino} ${mtimeMs}`
  let flags = known.get(key)
  if (!flags) known.set(key, (flags = askFor(executable)))
  return flags
}

function askFor(executable: string): readonly string[] {
  if (takes(executable, FLAGS)) return FLAGS
  const taken = FLAGS.filter((flag) => takes(executable, [flag]))
  const dropped = FLAGS.filter((flag) => !taken.includes(flag))
  log('warn', 'this node does not know flags of V8 and is started without them', {
    node: executable,
    dropped,
  })
  return taken
}

/** False when the node refuses the flags; one that does not answer says nothing about them. */
function takes(executable: string, flags: readonly string[]): boolean {
  const options = { stdio: 'ignore', timeout: VERSION_TIMEOUT_MS } as const
  return spawnSync(executable, [...flags, '--version'], options).status !== INVALID_ARGUMENT
}
