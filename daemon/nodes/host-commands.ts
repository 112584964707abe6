import { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { useContext } from '#server/context.ts'
import type { Engine } from '../engine/index.ts'
import { COMMAND_MS, failure, notInstalled, SYSTEM_PATH, type Run } from '../packet-filter/command.ts'

/** The root of the host, in the container. */
const ROOT = '/host'
/** Ends by itself if the server is killed. */
const LASTS_SECONDS = 120
const STOP_SECONDS = 1
const MEMORY_BYTES = 64 * 1024 ** 2
/** iptables opens a raw socket to talk to the kernel. */
const CAPABILITIES = ['NET_ADMIN', 'NET_RAW', 'SYS_CHROOT']
/** The exit code of chroot(1) for a program that it does not find. */
const NOT_FOUND = 127

/**
 * Does something with the packet filter's programs of another node's host: `run` runs them there, from a container of the
 * server's own, made from `image`, which is removed at the end. Throws `runtime_error`, or what `work` throws.
 */
export async function withHostCommands<T>(
  engine: Engine,
  image: string,
  work: (run: Run) => Promise<T>,
): Promise<T> {
  const name = `deployer-filter-${useContext().serverId}`
  const { containers } = engine
  // A killed server may have left one.
  await containers.remove(name)
  await containers.create({
    name,
    image,
    labels: { 'deployer.kind': 'filter' },
    env: {},
    entrypoint: ['sleep'],
    command: [String(LASTS_SECONDS)],
    network: 'host',
    capabilities: CAPABILITIES,
    hostFolders: [
      { source: '/', path: ROOT },
      // Where iptables has its lock.
      { source: '/run', path: `${ROOT}/run`, isWritable: true },
    ],
    memoryBytes: MEMORY_BYTES,
    cpus: 1,
    stopSeconds: STOP_SECONDS,
  })
  try {
    await containers.start(name)
    return await work((program, args, input) => runIn(engine, name, program, args, input))
  } finally {
    // The next call removes what is left.
    await containers.remove(name).catch(() => {})
  }
}

async function runIn(
  { programs }: Engine,
  container: string,
  program: string,
  args: readonly string[],
  input = '',
): Promise<string> {
  const signal = AbortSignal.timeout(COMMAND_MS)
  const command = ['chroot', ROOT, program, ...args]
  const env = { PATH: SYSTEM_PATH, LC_ALL: 'C' }
  const running = await programs.start(container, { command, env }, signal)
  const [output] = await Promise.all([
    text(running.streams.output()),
    running.streams.input(Readable.from([Buffer.from(input)])),
  ])
  const exitCode = await running.end()
  if (exitCode === NOT_FOUND) throw new Error(notInstalled(program))
  if (exitCode !== 0) throw new Error(failure(program, running.streams.errors || `ended with ${exitCode}`))
  return output
}
