import { afterEach } from 'vitest'
import { runningServers } from './server.ts'

const MAX_LINES = 60
const MAX_LINE_CHARACTERS = 500

/** What the servers of a test that failed printed last, since on another machine nobody can look. */
afterEach(({ task }) => {
  if (task.result?.state !== 'fail') return
  for (const { url, logs } of runningServers) {
    const lines = logs.trimEnd().split('\n').slice(-MAX_LINES)
    const text = lines.map((line) => `  ${line.slice(0, MAX_LINE_CHARACTERS)}`).join('\n')
    process.stderr.write(`\n${task.name}: the server at ${url} printed:\n${text}\n`)
  }
})
