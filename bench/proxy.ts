// Compares the data plane to nginx, HAProxy and Caddy, on one core each; see bench/proxy/. `node bench/proxy.ts --quick`
// measures once and briefly, and `--only <row>` measures one row; only a complete run is written to docs/performance.md.
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import { findCommand } from '../scripts/lib/command.mjs'
import { describeRun, faultsOf, printTable, tableOf, writeDocument } from './proxy/report.ts'
import { measureRows, type Extent } from './proxy/rounds.ts'
import { rows } from './proxy/rows.ts'
import { Stand } from './proxy/stand.ts'

const WHOLE: Extent = { launches: 3, rounds: 2, seconds: 3 }
const QUICK: Extent = { launches: 1, rounds: 1, seconds: 2 }

/** The programs that are run, with Debian's package for each. */
const COMMANDS: [command: string, name: string][] = [
  ['nginx', 'nginx'],
  ['haproxy', 'haproxy'],
  ['caddy', 'caddy'],
  ['wrk', 'wrk'],
  ['h2load', 'nghttp2-client'],
  ['openssl', 'openssl'],
  ['taskset', 'util-linux'],
]

await main()

async function main(): Promise<void> {
  const { values } = parseArgs({
    options: { only: { type: 'string', multiple: true }, quick: { type: 'boolean' } },
  })
  const chosen = values.only ? rows.filter(({ name }) => values.only!.includes(name)) : rows
  const obstacle = obstacleTo(chosen.length)
  if (obstacle) return console.log(`not measured: ${obstacle}`)
  const extent = values.quick ? QUICK : WHOLE
  const stand = await Stand.open()
  const stop = () => void stand.close().finally(() => process.exit(130))
  process.once('SIGINT', stop)
  process.once('SIGTERM', stop)
  try {
    const outcome = await measureRows(stand, chosen, extent, availableParallelism())
    const table = tableOf(outcome)
    const faults = faultsOf(outcome)
    const description = describeRun(outcome, extent)
    console.log(description)
    printTable(table)
    for (const fault of faults) console.log(`failed: ${fault}`)
    if (!values.quick && !values.only) await writeDocument(description, table, faults)
  } finally {
    await stand.close()
  }
}

/** Returns why nothing can be measured here; null if it can. */
function obstacleTo(chosen: number): string | null {
  if (chosen === 0) return `the rows are ${rows.map(({ name }) => name).join(', ')}`
  if (availableParallelism() < 2) return 'the proxy and its load need a core each'
  const missing = COMMANDS.filter(([command]) => !findCommand(command)).map(([, name]) => name)
  if (missing.length === 0) return null
  // The packages are not installed automatically: Debian starts what it installs, which would then listen on port 80.
  return `missing ${missing.join(', ')}; run apt-get install --no-install-recommends ${missing.join(' ')}, which also starts the servers among them`
}
