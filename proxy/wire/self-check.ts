import { connect, createServer } from 'node:net'
import { log } from '../log.ts'
import { SocketWire } from './socket-wire.ts'

/** Enough for a round trip over loopback; a slower host only gets the slower way of reading. */
const CHECK_TIMEOUT_MS = 2_000

/**
 * Whether an accepted socket can be given a read buffer. This relies on node's internals, so it is tried: a few bytes and an
 * end must come through one.
 */
export async function sharesReadBuffer(): Promise<boolean> {
  const works = await new Promise<boolean>((resolve) => {
    const server = createServer({ allowHalfOpen: true, noDelay: true })
    const timer = setTimeout(() => settle(false), CHECK_TIMEOUT_MS)
    let text = ''
    const wire = new SocketWire()
    wire.owner = {
      onRead: (input, length) => void (text += input.toString('latin1', 0, length)),
      onDrain: () => {},
      onEnd: () => settle(text === 'check'),
      onClose: () => settle(false),
      cut: () => settle(false),
    }
    const settle = (result: boolean) => {
      clearTimeout(timer)
      server.close()
      wire.destroy()
      resolve(result)
    }
    server.on('error', () => settle(false))
    server.on('connection', (socket) => {
      try {
        wire.accept(socket)
      } catch {
        settle(false)
      }
    })
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      connect(port, '127.0.0.1')
        .on('error', () => settle(false))
        .end('check')
    })
  })
  if (!works)
    log(
      'warn',
      'accepted connections cannot share a read buffer on this node version; reading will cost more',
    )
  return works
}
