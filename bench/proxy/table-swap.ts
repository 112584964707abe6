import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { constants, setPriority } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setTimeout as delay } from 'node:timers/promises'
import type { RouteTable } from '../../proxy/protocol.ts'
import type { OurProgram } from './ours.ts'
import type { Wait } from './probe.ts'
import { LOAD_CORE } from './programs.ts'

const HOSTS = 10_000
const SWAPS = 5
const PAUSE_MS = 1_000
/** The host that is requested in the meantime, in the middle of the table. */
const PROBED = `host-${HOSTS / 2}.test`

/** The results of replacing a table. */
export interface SwapFigures {
  /** The longest replacement. */
  swapMs: number
  /** The longest time that a request waited during a replacement. */
  heldMs: number
  /** The same for equally long periods before each: what machine, upstream and probe cause themselves. */
  calmMs: number
  /** How much longer the first one was. */
  beyondMs: number
}

/** Replaces a table of 10,000 hosts with one in which every upstream is different, and back, under constant requests. */
export async function measureTableSwap(program: OurProgram, upstreamPort: number): Promise<SwapFigures> {
  const tables = ['a', 'b'].map((name) => fullTable(program.table, name, upstreamPort))
  await program.client.applyTable(tables[0]!)
  const probe = startProbe(program.plainPort)
  const swaps: { from: number; to: number }[] = []
  await delay(PAUSE_MS)
  for (let swap = 1; swap <= SWAPS; swap++) {
    const from = Date.now()
    await program.client.applyTable(tables[swap % 2]!)
    swaps.push({ from, to: Date.now() })
    await delay(PAUSE_MS)
  }
  // Equally long parts of the pauses: over a longer time, the longest wait would be longer for that reason alone.
  const calms = swaps.map(({ from, to }) => ({ from: from - (to - from), to: from }))
  const waits = await probe.stop()
  await program.client.applyTable(program.table)
  const heldMs = Math.max(...swaps.map((span) => longest(waits, span)))
  const calmMs = Math.max(...calms.map((span) => longest(waits, span)))
  return {
    swapMs: Math.max(...swaps.map(({ from, to }) => to - from)),
    heldMs,
    calmMs,
    beyondMs: Math.max(0, heldMs - calmMs),
  }
}

function fullTable(table: RouteTable, name: string, upstreamPort: number): RouteTable {
  const hosts: RouteTable['hosts'] = {}
  const targets: RouteTable['targets'] = {}
  for (let index = 0; index < HOSTS; index++) {
    const id = `service-${index}`
    hosts[`host-${index}.test`] = id
    const upstream = { instance: `${id}-${name}`, host: '127.0.0.1', port: upstreamPort }
    targets[id] = { id, state: 'serving', upstreams: [upstream] }
  }
  return { ...table, version: table.version + 1, hosts, targets }
}

/** Returns the longest wait of requests that were open in a time span. */
function longest(waits: Wait[], { from, to }: { from: number; to: number }): number {
  return Math.max(0, ...waits.filter(({ at, ms }) => at + ms >= from && at <= to).map(({ ms }) => ms))
}

function startProbe(port: number): { stop(): Promise<Wait[]> } {
  const args = [
    '-c',
    LOAD_CORE,
    process.execPath,
    join(import.meta.dirname, 'probe.ts'),
    String(port),
    PROBED,
  ]
  const child = spawn('taskset', args, { stdio: ['pipe', 'pipe', 'inherit'] })
  try {
    // Requests should not wait because the control plane is busy on the same core.
    setPriority(child.pid!, constants.priority.PRIORITY_HIGHEST)
  } catch {
    // Without the right to do that, the figure is higher, and so is the calm one.
  }
  const output = text(child.stdout)
  return {
    async stop() {
      child.stdin.end()
      const [code] = child.exitCode === null ? await once(child, 'exit') : [child.exitCode]
      if (code !== 0) throw new Error('a request failed while the table was replaced')
      return JSON.parse(await output) as Wait[]
    },
  }
}
