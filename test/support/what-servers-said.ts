import { afterAll, afterEach } from 'vitest'
import { startedServers } from './server.ts'

const MAX_LINES = 60
const MAX_LINE_CHARACTERS = 500

let hasRun = false

/** Prints the last output of the servers of a failed test, since nobody can look on another machine. */
afterEach(({ task }) => {
  hasRun = true
  if (task.result?.state === 'fail') tell(task.name)
  // Hooks of the test itself came before this one.
  for (const server of startedServers) if (server.isStopped) startedServers.delete(server)
})

/** If a hook failed before the first test, there is no test to report on. */
afterAll(() => {
  if (!hasRun) tell('before the first test')
})

function tell(when: string): void {
  for (const { url, logs } of startedServers) {
    const lines = logs.trimEnd().split('\n').slice(-MAX_LINES)
    const text = lines.map((line) => `  ${line.slice(0, MAX_LINE_CHARACTERS)}`).join('\n')
    process.stderr.write(`\n${when}: the server at ${url} printed:\n${text}\n`)
  }
}
