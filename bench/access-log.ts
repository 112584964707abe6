// What an access log costs: requests of a service that has one, next to nginx with its own log, on one core each.
// `node bench/access-log.ts --quick` measures once and briefly.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { findCommand } from '../scripts/lib/command.mjs'
import { keptAlive, logged } from './proxy/loads.ts'
import { describeRun, faultsOf, printTable, tableOf } from './proxy/report.ts'
import { measureRows } from './proxy/rounds.ts'
import type { Contender } from './proxy/programs.ts'
import type { Measure, Row } from './proxy/row.ts'
import { Stand } from './proxy/stand.ts'

const CONTENDERS: Contender[] = ['ours', 'nginx']

const rows: Row[] = [
  {
    name: 'unlogged',
    work: '1 KiB bodies, 64 kept-alive connections, no log',
    contenders: CONTENDERS,
    run: keptAlive,
    measures: [rate(), cpu()],
  },
  {
    name: 'logged',
    work: 'the same, each request logged',
    contenders: CONTENDERS,
    run: logged,
    measures: [
      { ...rate(), targets: [{ against: 'nginx', atLeast: 0.85 }] },
      cpu(),
      {
        key: 'lost',
        label: 'lines that found no room',
        better: 'less',
        format: (value) => `${(value * 100).toFixed(1)} %`,
        uncompared: true,
        targets: [],
      },
    ],
  },
]

await main()

async function main(): Promise<void> {
  const missing = ['nginx', 'wrk', 'openssl', 'taskset'].filter((command) => !findCommand(command))
  if (missing.length > 0) return console.log(`not measured: missing ${missing.join(', ')}`)
  if (availableParallelism() < 2) return console.log('not measured: the proxy and its load need a core each')
  const { values } = parseArgs({ options: { quick: { type: 'boolean' } } })
  const extent = values.quick
    ? { launches: 1, rounds: 1, seconds: 3 }
    : { launches: 3, rounds: 2, seconds: 4 }
  const stand = await Stand.open()
  const stop = () => void stand.close().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    const outcome = await measureRows(stand, rows, extent, availableParallelism())
    console.log(describeRun(outcome, extent))
    printTable(tableOf(outcome))
    for (const fault of faultsOf(outcome)) console.log(`failed: ${fault}`)
  } finally {
    await stand.close()
  }
}

function rate(): Measure {
  const format = (value: number) => Math.round(value).toLocaleString('en-US')
  return { key: 'perSecond', label: 'answers per second', better: 'more', format, targets: [] }
}

function cpu(): Measure {
  const format = (value: number) => `${value.toFixed(1)} µs`
  return { key: 'cpu', label: 'CPU per request', better: 'less', format, targets: [] }
}
