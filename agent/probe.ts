import { connect } from 'node:net'
import type { Probes, Reach } from './protocol.ts'

/** Between machines that are near enough to be nodes of one server an answer takes less. */
const ANSWER_MS = 2_000

/** Tries a connection to each target at the same time. */
export function probe({ targets }: Probes): Promise<Reach[]> {
  return Promise.all(targets.map(({ host, port }) => reach(host, port)))
}

function reach(host: string, port: number): Promise<Reach> {
  const { promise, resolve } = Promise.withResolvers<Reach>()
  const socket = connect({ host, port, timeout: ANSWER_MS })
  const end = (found: Reach) => () => {
    socket.destroy()
    resolve(found)
  }
  socket.on('connect', end('open')).on('timeout', end('silent'))
  socket.on('error', ({ code }: NodeJS.ErrnoException) =>
    end(code === 'ECONNREFUSED' ? 'refused' : 'silent')(),
  )
  return promise
}
