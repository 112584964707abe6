// How much later a datastore is available than the same image run by hand answers its first query.
import { execFile } from 'node:child_process'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { createClient } from '@redis/client'
import { Client } from 'pg'
import { median, withServer } from './lib/stand.ts'

const ROUNDS = 5
const PASSWORD = 'by-hand'
const run = promisify(execFile)

/** A kind, its image by hand with what it takes to have a password, and the first question. */
const KINDS = [
  {
    kind: 'relational',
    aimSeconds: 5,
    port: 5432,
    run: ['-e', `POSTGRES_PASSWORD=${PASSWORD}`, 'postgres:18'],
    async ask(port: number) {
      const client = new Client({ host: '127.0.0.1', port, user: 'postgres', password: PASSWORD })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.query('SELECT 1')
      } finally {
        client.end().catch(() => {})
      }
    },
  },
  {
    kind: 'keyvalue',
    aimSeconds: 2,
    port: 6379,
    run: [
      'valkey/valkey:9',
      'valkey-server',
      '--requirepass',
      PASSWORD,
      '--appendonly',
      'yes',
      '--protected-mode',
      'no',
    ],
    async ask(port: number) {
      const socket = { host: '127.0.0.1', port, reconnectStrategy: false } as const
      const client = createClient({ password: PASSWORD, socket })
      client.on('error', () => {})
      try {
        await client.connect()
        await client.ping()
      } finally {
        client.destroy()
      }
    },
  },
]

await withServer(async (server, dockerHost) => {
  const docker = async (...args: string[]) => (await run('docker', ['-H', dockerHost, ...args])).stdout.trim()
  for (const { kind, aimSeconds, port, run: image, ask } of KINDS) {
    const ours: number[] = []
    const byHand: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now()
      const { body } = await server.api('POST', '/datastores', { kind, name: `bench-${kind}-${round}` })
      while ((await server.api('GET', `/datastores/${body.id}`)).body.status !== 'available') await delay(5)
      ours.push(performance.now() - began)
      await server.api('DELETE', `/datastores/${body.id}`)

      const start = performance.now()
      const id = await docker('run', '-d', '-p', `127.0.0.1::${port}`, ...image)
      const published = Number((await docker('port', id, String(port))).split(':').at(-1))
      await untilDone(() => ask(published))
      byHand.push(performance.now() - start)
      await docker('rm', '-fv', id)
    }
    const ratio = (median(ours) / median(byHand)).toFixed(2)
    console.log(
      `${kind.padEnd(10)} creating to available ${median(ours).toFixed(0)} ms, docker run to the first answer ${median(byHand).toFixed(0)} ms (medians of ${ROUNDS}; ratio ${ratio}; aim: under ${aimSeconds} s)`,
    )
  }
})

async function untilDone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await work()
    } catch {
      await delay(5)
    }
  }
}
