// Measures the audit log: what recording adds to a change, and reading 100,000 events by every filter.
import { DatabaseSync } from 'node:sqlite'
import { join } from 'node:path'
import { median, percentile, withServer } from './lib/stand.ts'

const EVENTS = 100_000
const CHANGES = 200
const READS = 20
const QUERIES = {
  'the newest 100': '',
  'of one service': 'resource=srv-00000000000000000042',
  'of one token, by name': 'actor=token-7',
  'an action that is not there': 'action=nothing.done',
  'refused, of a day': 'outcome=refused&since=2026-01-01T10:00:00Z&until=2026-01-02T10:00:00Z',
  '1,000 of an environment': 'environment=staging&limit=1000',
}

await withServer(async (server) => {
  await server.api('POST', '/services', { name: 'web', deploy: false })
  const change = async (index: number): Promise<void> => {
    const { status } = await server.api('PATCH', '/services/web', { port: 3_000 + index })
    if (status !== 200) throw new Error(`PATCH answered ${status}`)
  }
  const recorded = await times(CHANGES, change)
  const file = join(server.dataDirectory, 'deployer.db')
  fill(file)
  const later = await times(CHANGES, change)
  print('PATCH, with few events', recorded)
  print(`PATCH, with ${EVENTS} events`, later)
  for (const [what, query] of Object.entries(QUERIES)) {
    const read = () => server.api('GET', `/audit-events?${query}`)
    print(what, await times(READS, read), ' (aim: under 100 ms)')
  }
})

async function times(count: number, work: (index: number) => Promise<unknown>): Promise<number[]> {
  const all: number[] = []
  for (let index = 0; index < count; index++) {
    const began = performance.now()
    await work(index)
    all.push(performance.now() - began)
  }
  return all
}

function print(what: string, all: number[], aim = ''): void {
  console.log(
    `${what.padEnd(32)}median ${median(all).toFixed(1)} ms, p99 ${percentile(all, 0.99).toFixed(1)} ms${aim}`,
  )
}

function fill(file: string): void {
  const database = new DatabaseSync(file)
  const insert = database.prepare(
    `INSERT INTO audit_events (id, at, outcome, action, actor_kind, actor_id, actor_name, resource_kind, resource_id,
       resource_name, resource_environment, changes) VALUES (?, ?, ?, ?, 'token', ?, ?, 'service', ?, ?, ?, ?)`,
  )
  database.exec('BEGIN')
  for (let index = 0; index < EVENTS; index++) {
    const number = String(index).padStart(20, '0')
    insert.run(
      `aud-${number}`,
      1_767_225_600_000 + index * 10_000,
      index % 50 === 0 ? 'refused' : 'succeeded',
      index % 3 === 0 ? 'deploy.created' : 'service.updated',
      `tok-${String(index % 20).padStart(20, '0')}`,
      `token-${index % 20}`,
      `srv-${String(index % 500).padStart(20, '0')}`,
      `service-${index % 500}`,
      index % 4 === 0 ? 'staging' : 'production',
      '["port: 3000 -> 8080"]',
    )
  }
  database.exec('COMMIT')
  database.close()
}
