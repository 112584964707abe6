import { existsSync, linkSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ChannelError, connectChannel, type Channel } from '#proxy/control/channel.ts'
import { controlSocketFile } from '#proxy/control/paths.ts'
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
 * Connects to the control socket and reads its greeting, trying for `patienceMs`; null when nobody is there. Throws
 * `ChannelError` `timeout` when somebody accepts and says nothing.
 */
export async function greet(dataDirectory: string, patienceMs: number): Promise<Greeted | null> {
  adoptOldSocket(dataDirectory)
  const deadline = performance.now() + patienceMs
  for (;;) {
    try {
      const channel = await connectChannel(controlSocketFile(dataDirectory), () => null)
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
      if (performance.now() >= deadline) return null
      await sleep(START_POLL_MS)
    }
  }
}

/** Where the control socket was before it got its place among the data plane's other files. */
const OLD_SOCKET = 'proxy.sock'

/**
 * Gives the socket of an older data plane its new name. One that is not found is not upgraded: another would be started
 * on its workers' listening sockets, and both would serve, the older by a table that nobody changes any more.
 */
function adoptOldSocket(dataDirectory: string): void {
  const old = join(dataDirectory, OLD_SOCKET)
  if (!existsSync(old)) return
  try {
    // A link takes nobody's place.
    linkSync(old, controlSocketFile(dataDirectory))
  } catch (error) {
    if (!['EEXIST', 'ENOENT'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
  }
  rmSync(old, { force: true })
}
