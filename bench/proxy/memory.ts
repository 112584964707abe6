import { setTimeout as delay } from 'node:timers/promises'
import { proportionalBytes, residentBytes } from '../lib/processes.ts'
import { idleConnectionKib } from './idle-connections.ts'
import type { Contender } from './programs.ts'
import type { Figures, Launch } from './row.ts'
import { stalledStreamKib } from './stalled-streams.ts'

const PLAIN_CONNECTIONS = 2_000
const SECURE_CONNECTIONS = 1_000
const SETTLE_MS = 3_000

/** Memory of an idle worker, and what idle connections and unread streams add, each measured on a fresh program. */
export async function memory({ stand }: Launch, contender: Contender): Promise<Figures> {
  const first = await stand.start(contender)
  await delay(SETTLE_MS)
  const pid = first.workers()[0]!
  const workerRss = residentBytes(pid)
  const workerPss = proportionalBytes(pid)
  const plainKib = await idleConnectionKib(first, 'http', PLAIN_CONNECTIONS)
  await stand.stop(first)
  const second = await stand.start(contender)
  const secureKib = await idleConnectionKib(second, 'https', SECURE_CONNECTIONS)
  await stand.stop(second)
  const third = await stand.start(contender)
  const http2Kib = await idleConnectionKib(third, 'h2', SECURE_CONNECTIONS)
  await stand.stop(third)
  const fourth = await stand.start(contender)
  const stalledKib = await stalledStreamKib(fourth)
  await stand.stop(fourth)
  return { workerRss, workerPss, plainKib, secureKib, http2Kib, stalledKib }
}
