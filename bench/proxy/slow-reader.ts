import { once } from 'node:events'
import { connect, type ClientHttp2Session, type ClientHttp2Stream } from 'node:http2'
import { buffer } from 'node:stream/consumers'
import { median } from '../lib/figures.ts'
import { SECURE_HOST } from './ours.ts'
import type { Program } from './programs.ts'

const STREAMS = 100
const ROUNDS = 40
/** Rounds before the measurement, so that code and caches are warmed up. */
const WARM_UP = 10
/** How much of the connection's window an unread stream holds; that part is the client's own doing. */
const STREAM_WINDOW_BYTES = 256 * 1024
const CONNECTION_WINDOW_BYTES = 16 * 1024 * 1024

/**
 * Returns the ratio of the times of a hundred concurrent streams while one of them is not read to those when all are read.
 */
export async function measureSlowReader(program: Program): Promise<number> {
  const session = connect(`https://127.0.0.1:${program.securePort}`, {
    servername: SECURE_HOST,
    rejectUnauthorized: false,
    settings: { initialWindowSize: STREAM_WINDOW_BYTES },
  })
  await once(session, 'connect')
  session.setLocalWindowSize(CONNECTION_WINDOW_BYTES)
  try {
    const calmTimes: number[] = []
    const disturbedTimes: number[] = []
    for (let round = 0; round < WARM_UP + ROUNDS; round++) {
      const calm = await timesOf(session, STREAMS)
      const slow = open(session, '/large')
      slow.on('error', () => {})
      await once(slow, 'response')
      const disturbed = await timesOf(session, STREAMS - 1)
      slow.destroy()
      if (round < WARM_UP) continue
      calmTimes.push(...calm)
      disturbedTimes.push(...disturbed)
    }
    return median(disturbedTimes) / median(calmTimes)
  } finally {
    session.destroy()
  }
}

/** Returns the milliseconds that each of many concurrent streams took. */
function timesOf(session: ClientHttp2Session, streams: number): Promise<number[]> {
  const began = performance.now()
  return Promise.all(
    Array.from({ length: streams }, async () => {
      await buffer(open(session, '/'))
      return performance.now() - began
    }),
  )
}

function open(session: ClientHttp2Session, path: string): ClientHttp2Stream {
  return session.request({ ':authority': SECURE_HOST, ':path': path })
}
