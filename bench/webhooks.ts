// Measures how long the response to a push of 1 MiB takes when 500 services of other repositories are searched.
import { createHmac } from 'node:crypto'
import { setTimeout as delay } from 'node:timers/promises'
import { builtServer } from '../test/support/build.ts'
import { startServer } from '../test/support/server.ts'
import { median, percentile } from './lib/figures.ts'

const SERVICES = 500
const BODY_BYTES = 1024 * 1024
const DELIVERIES = 300
const WARM_UP = 20
/** Pushes come one after the other, not in a queue. */
const PAUSE_MS = 10
const SECRET = 'a secret of webhooks'

await builtServer()
const server = await startServer({ flags: ['--webhook-secret', SECRET] })
try {
  for (let index = 0; index < SERVICES; index++) {
    const repo_url = `https://git.example.com/team/service-${index}.git`
    await server.api('POST', '/services', {
      name: `s${index}`,
      repo_url,
      deploy: false,
      watch_paths: ['src/**'],
    })
  }
  const times: number[] = []
  for (let index = 0; index < WARM_UP + DELIVERIES; index++) {
    const text = push(index)
    const signature = `sha256=${createHmac('sha256', SECRET).update(text).digest('hex')}`
    const headers = { 'x-github-event': 'push', 'x-hub-signature-256': signature }
    const began = performance.now()
    const { status } = await server.request('POST', '/hooks/gitprov', text, { headers })
    if (status !== 200) throw new Error(`a delivery was answered ${status}`)
    if (index >= WARM_UP) times.push(performance.now() - began)
    await delay(PAUSE_MS)
  }
  const figures = [median(times), percentile(times, 0.99)].map((time) => `${time.toFixed(1)} ms`)
  console.log(
    `answer to a push of 1 MiB, ${SERVICES} services, none meant: p50 ${figures[0]}, p99 ${figures[1]}`,
  )
} finally {
  await server.stop()
}

/** Returns a push that is large because of its commits; each delivery is different. */
function push(index: number): string {
  const commit = {
    id: '9fceb02d0ae598e95dc970b74767f19372d61af8',
    message: `change ${index}`,
    added: Array.from({ length: 100 }, (_, at) => `src/some/folder/of/files/file-${at}.ts`),
    removed: [],
    modified: [],
  }
  const size = JSON.stringify(commit).length + 1
  return JSON.stringify({
    ref: 'refs/heads/main',
    before: '6113728f27ae82c7b1a177c8d03f9e96e0adf246',
    after: commit.id,
    nonce: index,
    repository: { clone_url: 'https://git.example.com/team/other.git', default_branch: 'main' },
    commits: Array.from({ length: Math.ceil(BODY_BYTES / size) }, () => commit),
  })
}
