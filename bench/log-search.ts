// Measures a search for a rare word in 100 MiB of a service's packed log: the first hit, compared to zgrep.
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gzipSync } from 'node:zlib'
import { buildSync } from 'esbuild'
import type { LineFilter } from '../server/logs/filter.ts'
import { listParts, partPath } from '../server/logs/parts.ts'
import { provideSearchProgram, SearchThread } from '../server/logs/search-thread.ts'
import { median } from './lib/figures.ts'

const TOTAL_BYTES = 100 * 1024 * 1024
const PART_BYTES = 16 * 1024 * 1024
const ROUNDS = 5
const ROOM_BYTES = 1024 * 1024
const NOTHING: LineFilter = {
  since: null,
  until: null,
  stream: null,
  instances: null,
  levels: null,
  search: null,
}

const directory = mkdtempSync(join(tmpdir(), 'bench-logs-'))
try {
  const program = join(directory, 'log-search.mjs')
  buildSync({
    entryPoints: [fileURLToPath(new URL('../server/logs/search-program.ts', import.meta.url))],
    outfile: program,
    bundle: true,
    platform: 'node',
    format: 'esm',
  })
  provideSearchProgram(program)
  writeLog()
  const files = readdirSync(directory).filter((name) => name.endsWith('.gz'))
  const zgrep = await times(async () => {
    await promisify(execFile)('zgrep', ['-i', '-h', '-m1', 'needle-in-it', ...files], { cwd: directory })
  })
  console.log(`zgrep -i over the same files            ${zgrep}`)
  await measure('a text', { ...NOTHING, search: { text: 'NEEDLE-in-it' } })
  await measure('an expression', {
    ...NOTHING,
    search: { expression: 'needle-in-[a-z]+ \\d+', ignoreCase: false },
  })
  await measure('an expression without a fixed text', {
    ...NOTHING,
    search: { expression: '^[a-z] [a-z]+-[a-z]{2}-[a-z]+ \\d+$', ignoreCase: false },
  })
} finally {
  rmSync(directory, { recursive: true })
}

/** Writes the log. The rare line is the very first, so that all of it is searched. */
function writeLog(): void {
  let line = 0
  for (let written = 0; written < TOTAL_BYTES;) {
    const first = line
    const lines: string[] = []
    for (let size = 0; size < PART_BYTES;) {
      const text =
        line === 0
          ? 'a needle-in-it 42'
          : `GET /api/orders/${line * 7919} 200 ${line % 97} ms user=${line % 1009}`
      const ts = new Date(1_767_225_600_000 + line++).toISOString()
      const stored = JSON.stringify({
        ts,
        stream: 'stdout',
        line: text,
        instance: 'srv-00000000000000000000-aaaaa',
      })
      lines.push(stored)
      size += stored.length + 1
      written += stored.length + 1
    }
    writeFileSync(`${partPath(directory, first, '2026-01-01')}.gz`, gzipSync(`${lines.join('\n')}\n`))
  }
}

async function measure(what: string, filter: LineFilter): Promise<void> {
  const slices = listParts(directory).map((part) => ({ ...part, bytes: null }))
  const took = await times(async () => {
    const thread = new SearchThread(filter, new AbortController().signal)
    const { count } = await thread.tail(slices, 100, ROOM_BYTES)
    thread.end()
    if (count !== 1) throw new Error(`found ${count} lines`)
  })
  console.log(`${what.padEnd(40)}${took}`)
}

async function times(work: () => Promise<void>): Promise<string> {
  const all: number[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const began = performance.now()
    await work()
    all.push(performance.now() - began)
  }
  return `median ${median(all).toFixed(0)} ms, longest ${Math.max(...all).toFixed(0)} ms`
}
