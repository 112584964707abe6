import { setTimeout as sleep } from 'node:timers/promises'
import { ChannelError, connectChannel, type Channel } from '#proxy/control/channel.ts'
import { controlSocketFile, olderControlSocketFile } from '#proxy/control/paths.ts'
import type { Hello } from '#proxy/protocol.ts'

/** How long a supervisor that accepted a connection may take to send its greeting, or to answer a short request. */
export const HELLO_MS = 5_000
/** Interval between two tries to reach a supervisor that is starting. */
const START_POLL_MS = 25

/** A control connection with the supervisor's greeting. */
export interface Greeted {
  channel: Channel
  hello: Hello
}

/**
 * Connects to the data plane's supervisor and reads its greeting, trying for `patienceMs`; null if there is none. Throws
 * `ChannelError` `timeout` if the connection is accepted but no greeting arrives.
 */
export async function greet(dataDirectory: string, patienceMs: number): Promise<Greeted | null> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const found =
      (await greetAt(controlSocketFile(dataDirectory))) ??
      (await greetAt(olderControlSocketFile(dataDirectory)))
    if (found || performance.now() >= deadline) return found
    await sleep(START_POLL_MS)
  }
}

/**
 * Ends the supervisor of an older data plane that runs next to the one that was found, whose starter did not see it. Only
 * the supervisor ends: taking over or stopping the found one includes the older one's workers. Returns whether there was
 * one.
 */
export async function endOlder(dataDirectory: string, { hello }: Greeted): Promise<boolean> {
  const older = await greetAt(olderControlSocketFile(dataDirectory))
  if (!older) return false
  const { channel } = older
  const { pid, server_id } = older.hello
  try {
    if (pid === hello.pid || server_id !== hello.server_id) return false
    const ended = new Promise<boolean>((resolve) => (channel.onClose = () => resolve(true)))
    // A request over its socket would end all workers, including those of the other.
    process.kill(pid, 'SIGUSR2')
    if (await Promise.race([ended, sleep(HELLO_MS, false, { ref: false })])) return true
    throw new Error(`an older proxy (process ${pid}) runs next to this one and does not stop: kill it`)
  } finally {
    channel.destroy()
  }
}

async function greetAt(socketFile: string): Promise<Greeted | null> {
  try {
    return await greetOver(await connectChannel(socketFile, () => null))
  } catch (error) {
    if (error instanceof ChannelError && error.code === 'timeout') throw error
    return null
  }
}

/**
 * Reads the greeting of a supervisor that was just connected to. Throws `ChannelError`: `timeout` if none arrives, `closed` if
 * the connection ends.
 */
export async function greetOver(channel: Channel, withinMs = HELLO_MS): Promise<Greeted> {
  const hello = await new Promise<Hello>((resolve, reject) => {
    const timer = setTimeout(() => {
      channel.destroy()
      reject(new ChannelError('timeout', 'the proxy accepts connections but does not send its greeting'))
    }, withinMs)
    channel.onEvent = (event, body) => {
      if (event !== 'hello') return
      clearTimeout(timer)
      resolve(body as unknown as Hello)
    }
    channel.onClose = () => {
      clearTimeout(timer)
      reject(new ChannelError('closed', 'the proxy closed the connection'))
    }
  })
  channel.onClose = () => {}
  return { channel, hello }
}
