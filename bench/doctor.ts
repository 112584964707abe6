// Measures how long an examination takes on a server with the records of 50 services, whose names need DNS.
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readQuery, writeAnswer } from '../proxy/resolver/message.ts'
import type { Finding } from '../server/doctor/schema.ts'
import { median, withServer } from './lib/stand.ts'

const SERVICES = 50
const ROUNDS = 20
/** What DNS takes over a network. */
const DNS_MS = 50

const names = createSocket('udp4')
names.on('message', (message, { port, address }) => {
  const reading = readQuery(message)
  if (!reading || !('query' in reading)) return
  const answer = writeAnswer(reading.query, reading.query.wantsAddresses ? ['127.0.0.1'] : [], 1)
  setTimeout(() => names.send(answer, port, address), DNS_MS)
})
names.bind(0, '127.0.0.1')
await once(names, 'listening')

await withServer(
  async (server) => {
    // Without a source, so that nothing is deployed.
    for (let index = 0; index < SERVICES; index++) {
      const input = { name: `service-${index}`, custom_domains: [`www.example-${index}.com`] }
      const { status, body } = await server.api('POST', '/services', input)
      if (status !== 201) throw new Error(JSON.stringify(body))
    }
    const took: number[] = []
    let findings: Finding[] = []
    for (let round = 0; round < ROUNDS; round++) {
      const began = performance.now()
      findings = (await server.api('GET', '/server/doctor')).body as Finding[]
      took.push(performance.now() - began)
    }
    console.log(`${findings.length} checks, ${SERVICES} services, DNS answers after ${DNS_MS} ms`)
    console.log(
      `median ${median(took).toFixed(0)} ms, slowest ${Math.max(...took).toFixed(0)} ms (aim: under 3,000 ms)`,
    )
    for (const { id, outcome, message } of findings)
      console.log(`  ${outcome.padEnd(8)} ${id}: ${message.slice(0, 100)}`)
  },
  [
    ...['--base-domain', 'apps.example.com', '--public-ip', '127.0.0.1'],
    ...['--acme-directory', 'https://127.0.0.1:1/', '--dns-resolvers', `127.0.0.1:${names.address().port}`],
  ],
)
names.close()
