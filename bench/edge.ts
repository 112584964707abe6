// Compares what a service asks for at its edge to nginx with the same set, and to a service that asks for nothing, on one
// core each; see bench/proxy/. `node bench/edge.ts --quick` measures once and briefly.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { findCommand } from '../scripts/lib/command.mjs'
import { describeMachine } from './lib/machine.ts'
import { edge, emptyEdge } from './proxy/loads.ts'
import { faultsOf, printTable, tableOf } from './proxy/report.ts'
import { measureRows } from './proxy/rounds.ts'
import type { Measure, Row } from './proxy/row.ts'
import { Stand } from './proxy/stand.ts'

const number = (value: number) => Math.round(value).toLocaleString('en-US')
const ratio = (value: number) => value.toFixed(3)

const RATE: Measure = {
  key: 'perSecond',
  label: 'requests/s',
  better: 'more',
  format: number,
  targets: [{ against: 'nginx', after: 0.9 }],
}
const CPU: Measure = { key: 'cpu', label: 'µs of CPU a request', better: 'less', format: ratio, targets: [] }
const SHARE: Measure = {
  key: 'share',
  label: 'requests/s, as a share of those without an edge',
  better: 'more',
  format: ratio,
  targets: [{ against: null, after: 0.98 }],
}

const ROWS: Row[] = [
  {
    name: 'edge',
    work: '1,000 ranges, a password, a rate limit, ten redirects, five headers',
    contenders: ['ours', 'nginx'],
    run: edge,
    measures: [RATE, CPU],
  },
  {
    name: 'empty-edge',
    work: 'an edge with nothing set',
    contenders: ['ours'],
    run: emptyEdge,
    measures: [SHARE, { ...SHARE, key: 'cpuShare', label: 'the same of CPU a request' }],
  },
]

await main()

async function main(): Promise<void> {
  const { values } = parseArgs({ options: { quick: { type: 'boolean' } } })
  const missing = ['nginx', 'wrk', 'openssl', 'taskset'].filter((command) => !findCommand(command))
  if (missing.length > 0) return console.log(`not measured: missing ${missing.join(', ')}`)
  if (availableParallelism() < 2) return console.log('not measured: the proxy and its load need a core each')
  const stand = await Stand.open()
  const stop = () => void stand.close().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    const extent = values.quick
      ? { launches: 1, rounds: 2, seconds: 2 }
      : { launches: 3, rounds: 3, seconds: 3 }
    const outcome = await measureRows(stand, ROWS, extent, availableParallelism())
    console.log(
      `${describeMachine()}; other processes used ${(outcome.disturbance * 100).toFixed(0)} % of it.`,
    )
    printTable(tableOf(outcome))
    for (const fault of faultsOf(outcome)) console.log(`failed: ${fault}`)
  } finally {
    await stand.close()
  }
}
