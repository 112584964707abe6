// Measures the memory and time of the client that follows a log of 100,000 lines, stored as the server stores them.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { startClient } from '../test/cli/client.ts'
import { startServer } from '../test/support/server.ts'
import { waitFor } from '../test/support/wait.ts'
import { formatMib } from './lib/figures.ts'
import { peakBytes } from './lib/processes.ts'

const LINES = 100_000
const PADDING = 'x'.repeat(90)
const AIM_MIB = 64

// The engine is not needed: without one a deploy waits, and its log is a file that can be written here.
const server = await startServer()
try {
  const { body } = await server.api('POST', '/services', { name: 'busy', image: 'busybox:1' })
  const deploy = body.latest_deploy.id as string
  const folder = join(server.dataDirectory, 'logs')
  mkdirSync(folder, { recursive: true })
  const ts = new Date().toISOString()
  const lineOf = (number: number) => JSON.stringify({ ts, stream: 'stdout', line: `${number} ${PADDING}` })
  const lines = Array.from({ length: LINES }, (_, index) => lineOf(index + 1))
  writeFileSync(join(folder, `${deploy}.ndjson`), `${lines.join('\n')}\n`)

  const began = performance.now()
  const following = startClient(server, ['deploys', 'logs', deploy, '-f'])
  await waitFor(() => following.out.endsWith(`\n${LINES} ${PADDING}\n`), 'the last line')
  const seconds = (performance.now() - began) / 1_000
  const memory = formatMib(peakBytes(following.child.pid!))
  console.log(
    `a client that follows ${LINES} lines: ${memory} resident at most (aim: at most ${AIM_MIB} MiB), ${seconds.toFixed(1)} s`,
  )
  following.child.kill('SIGINT')
  await following.ended
} finally {
  await server.stop()
}
