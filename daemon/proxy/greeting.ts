import { setTimeout as sleep } from 'node:timers/promises'
import { ChannelError, connectChannel, type Channel } from '#proxy/control/channel.ts'
import { controlSocketFile, olderControlSocketFile } from '#proxy/control/paths.ts'
import type { Hello } from '#proxy/protocol.ts'

/** How long a supervisor that accepts a connection may take to greet, or to answer a short question. */
export const HELLO_MS = 5_000
/** Between two tries to meet a supervisor that starts. */
export const START_POLL_MS = 25

/** A control connection whose supervisor has said who it is. */
export interface Greeted {
  channel: Channel
  hello: Hello
}

/**
 * Connects to the data plane's supervisor and reads its greeting, trying for `patienceMs`; null when nobody is there.
 * Throws `ChannelError` `timeout` when somebody accepts and says nothing.
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
 * Ends the supervisor of an older data plane that serves beside the one that was found, which was started by who did
 * not see it. It ends alone: whoever takes over from the one that was found, or ends it, takes its workers too. Answers
 * whether there was one.
 */
export async function endOlder(dataDirectory: string, { hello }: Greeted): Promise<boolean> {
  const older = await greetAt(olderControlSocketFile(dataDirectory))
  if (!older) return false
  const { channel } = older
  const { pid, server_id } = older.hello
  try {
    if (pid === hello.pid || server_id !== hello.server_id) return false
    const ended = new Promise<boolean>((resolve) => (channel.onClose = () => resolve(true)))
    // Asked by its socket it would end all workers, also those of the other.
    process.kill(pid, 'SIGUSR2')
    if (await Promise.race([ended, sleep(HELLO_MS, false, { ref: false })])) return true
    throw new Error(`the older proxy beside this one (process ${pid}) does not end: end it`)
  } finally {
    channel.destroy()
  }
}

async function greetAt(socketFile: string): Promise<Greeted | null> {
  try {
    const channel = await connectChannel(socketFile, () => null)
    const hello = await new Promise<Hello>((resolve, reject) => {
      const timer = setTimeout(() => {
        channel.destroy()
        reject(new ChannelError('timeout', 'the proxy accepts but does not greet'))
      }, HELLO_MS)
      channel.onEvent = (event, body) => {
        clearTimeout(timer)
        if (event === 'hello') resolve(body as unknown as Hello)
      }
      channel.onClose = () => {
        clearTimeout(timer)
        reject(new ChannelError('closed', 'the proxy ended the connection'))
      }
    })
    channel.onClose = () => {}
    return { channel, hello }
  } catch (error) {
    if (error instanceof ChannelError && error.code === 'timeout') throw error
    return null
  }
}
