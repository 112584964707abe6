// Measures redeploys under 500 requests a second over kept-alive and new connections: how many requests fail.
import { Agent, request } from 'node:http'
import { setTimeout as delay } from 'node:timers/promises'
import { withServer } from './lib/stand.ts'

const REDEPLOYS = 20
const REQUESTS_PER_SECOND = 500
const TICK_MS = 10

await withServer(async (server) => {
  const { body } = await server.api('POST', '/services', {
    name: 'load',
    image: 'node:24-bookworm-slim',
    start_command: `node -e "require('http').createServer((q,s)=>s.end('ok')).listen(process.env.PORT)"`,
  })
  await untilLive(body.latest_deploy.id)
  const kept = new Agent({ keepAlive: true, maxSockets: 32 })
  const failures: string[] = []
  let answered = 0
  let loading = true
  const ask = (fresh: boolean) =>
    new Promise<void>((resolve) => {
      const outgoing = request(
        {
          host: '127.0.0.1',
          port: server.httpPort,
          headers: { host: 'load.localhost' },
          agent: fresh ? false : kept,
        },
        (response) => {
          response.resume()
          response.once('end', () => {
            if (response.statusCode === 200) answered++
            else failures.push(`${response.statusCode}`)
            resolve()
          })
        },
      )
      outgoing.once('error', (error) => {
        failures.push(error.message)
        resolve()
      })
      outgoing.end()
    })
  const began = performance.now()
  const load = (async () => {
    const open = new Set<Promise<void>>()
    for (let sent = 0; loading;) {
      const due = Math.floor(((performance.now() - began) / 1000) * REQUESTS_PER_SECOND)
      for (; sent < due; sent++) {
        const one = ask(sent % 2 === 0)
        open.add(one)
        void one.then(() => open.delete(one))
      }
      await delay(TICK_MS)
    }
    await Promise.all(open)
  })()
  const times: number[] = []
  for (let round = 0; round < REDEPLOYS; round++) {
    const start = performance.now()
    const deploy = await server.api('POST', '/services/load/restart')
    await untilLive(deploy.body.id)
    times.push(performance.now() - start)
  }
  // The last old instance is drained and stopped under load, too.
  await delay(8_000)
  loading = false
  await load
  const seconds = (performance.now() - began) / 1000
  console.log(
    `${REDEPLOYS} redeploys under load, ${answered} requests answered (${(answered / seconds).toFixed(0)}/s), ${failures.length} failed (aim: none)`,
  )
  for (const [reason, group] of Map.groupBy(failures, (failure) => failure))
    console.log(`  ${group.length} x ${reason}`)

  async function untilLive(id: string): Promise<void> {
    for (;;) {
      const { body: deploy } = await server.api('GET', `/deploys/${id}`)
      if (deploy.status === 'live') return
      if (/failed|canceled/.test(deploy.status)) throw new Error(`${deploy.status}: ${deploy.error}`)
      await delay(20)
    }
  }
})
