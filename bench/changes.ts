// Measures the change feed with many clients: from an API write until the last client has received it.
import { startServer } from '../test/support/server.ts'
import { followChanges } from './lib/change-followers.ts'
import { formatMib, median } from './lib/figures.ts'
import { residentBytes } from './lib/processes.ts'

const CLIENTS = 2_000
const ROUNDS = 30

const server = await startServer({})
try {
  const before = residentBytes(server.pid)
  const url = `${server.url}/api/v1/events?access_token=${server.token}`
  const feed = await followChanges(url, CLIENTS)
  const memory = residentBytes(server.pid) - before
  const times: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = process.hrtime.bigint()
    const { body } = await server.api('POST', '/env-groups', { name: `group-${round}` })
    times.push(Number((await feed.seenByAll(body.id as string)) - began) / 1e6)
  }
  console.log(
    `${CLIENTS} clients, from a write to the last: median ${median(times).toFixed(0)} ms, longest ${Math.max(...times).toFixed(0)} ms (aim: under 250 ms); ${formatMib(memory)} more resident`,
  )
  await feed.close()
} finally {
  await server.stop()
}
