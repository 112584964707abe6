// Measures the time from start to the first /healthz response, and the idle processes' memory (PSS, proc(5)) and CPU.
import { spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { builtServer } from '../test/support/build.ts'
import { formatMib, median, withServer } from './lib/stand.ts'

const STARTS = 5
const PORT = 17_878
const SETTLE_MS = 10_000
const WATCH_MS = 20_000
const CLOCK_TICKS_PER_SECOND = 100

const entry = await builtServer()
const starts: number[] = []
for (let round = 0; round < STARTS; round++) {
  const folder = mkdtempSync(join(tmpdir(), 'deployer-bench-'))
  const began = performance.now()
  const child = spawn(
    process.execPath,
    [
      entry,
      'serve',
      '--data-dir',
      folder,
      '--listen',
      `127.0.0.1:${PORT}`,
      '--http-listen',
      '127.0.0.1:0',
      '--tls',
      'off',
    ],
    { stdio: 'ignore' },
  )
  while (!(await fetch(`http://127.0.0.1:${PORT}/healthz`).catch(() => null))?.ok) await delay(5)
  starts.push(performance.now() - began)
  await delay(500)
  const stop = spawn(process.execPath, [entry, 'stop', '--all', '--data-dir', folder], { stdio: 'ignore' })
  await new Promise((resolve) => stop.once('exit', resolve))
  child.kill('SIGKILL')
  rmSync(folder, { recursive: true, force: true })
}
console.log(`start to first /healthz      median ${median(starts).toFixed(0)} ms (aim: at most 1000 ms)`)

await withServer(
  async (server) => {
    await delay(SETTLE_MS)
    const pids = [server.pid, ...proxiesOf(server.dataDirectory)]
    const before = pids.map(cpuSeconds)
    await delay(WATCH_MS)
    let total = 0
    for (const [index, pid] of pids.entries()) {
      const memory = pss(pid)
      total += memory
      const cpu = ((cpuSeconds(pid) - before[index]!) / (WATCH_MS / 1000)) * 100
      console.log(
        `  ${titleOf(pid).slice(0, 40).padEnd(40)} ${formatMib(memory).padStart(10)}  ${cpu.toFixed(2)} % of a core`,
      )
    }
    console.log(`idle, one proxy worker       ${formatMib(total)} PSS in all (aim: at most 150 MiB)`)
  },
  ['--proxy-workers', '1'],
)

function proxiesOf(dataDirectory: string): number[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => /deployer-proxy/.test(titleOf(pid)) && readEnvironment(pid).includes(dataDirectory))
}

function readEnvironment(pid: number): string {
  try {
    return readdirSync(`/proc/${pid}/fd`).length >= 0
      ? readFileSync(`/proc/${pid}/maps`, 'utf8') + readFileSync(`/proc/${pid}/cmdline`, 'utf8')
      : ''
  } catch {
    return ''
  }
}

function titleOf(pid: number): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ').trim()
  } catch {
    return ''
  }
}

function pss(pid: number): number {
  const line = /^Pss:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/smaps_rollup`, 'utf8'))
  return Number(line?.[1] ?? 0) * 1024
}

function cpuSeconds(pid: number): number {
  const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) / CLOCK_TICKS_PER_SECOND
}
