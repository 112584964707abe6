// Measures the command line: packing and sending of folders, beside tar and curl.
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { randomBytes } from 'node:crypto'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtServer } from '../test/support/build.ts'
import { formatMib, median } from './lib/figures.ts'
import { peakBytes } from './lib/processes.ts'
import { openReceiver } from './lib/upload-receiver.ts'

const MIB = 1024 * 1024
/** As much as the server takes, less what the format adds. */
const LARGE_MIB = 511
const FILES = 100_000
const FILES_IN_FOLDER = 100
const FILE_BYTES = 1_000
const ROUNDS = 3
const SAMPLE_MS = 20

const client = join(dirname(await builtServer()), '../cli/deployer.mjs')
const place = mkdtempSync(join(tmpdir(), 'bench-cli-'))
const receiver = await openReceiver()
try {
  await comparePacking(`${LARGE_MIB} MiB that do not compress`, largeFolder(), 96)
  await comparePacking(`${FILES} files`, folderOfMany(), 128)
} finally {
  await receiver.close()
  rmSync(place, { recursive: true, force: true })
}

async function comparePacking(what: string, folder: string, aimMib: number): Promise<void> {
  const rounds: { own: number; other: number; peak: number }[] = []
  for (let round = 0; round < ROUNDS; round++) {
    const { seconds: other } = await timed(() => runTarAndCurl(folder))
    let peak = 0
    const { seconds: own } = await timed(async () => void (peak = await runClient(folder)))
    rounds.push({ own, other, peak })
  }
  const own = median(rounds.map((round) => round.own))
  const other = median(rounds.map((round) => round.other))
  const peak = Math.max(...rounds.map((round) => round.peak))
  console.log(
    `deploy of ${what}: ${own.toFixed(1)} s, tar cz | curl -T - ${other.toFixed(1)} s: ${(other / own).toFixed(2)} of its speed (aim for large files: at least 0.8); ${formatMib(peak)} resident at most (aim: at most ${aimMib} MiB)`,
  )
}

async function timed(work: () => Promise<unknown>): Promise<{ seconds: number }> {
  const began = performance.now()
  await work()
  return { seconds: (performance.now() - began) / 1_000 }
}

/** Returns the most memory that the client had. */
async function runClient(folder: string): Promise<number> {
  const child = spawn(process.execPath, [client, 'deploy', folder, '--service', 'packed', '--detach'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env.PATH, HOME: place, DEPLOYER_HOST: receiver.url, DEPLOYER_TOKEN: 'none' },
  })
  let peak = 0
  const watch = setInterval(() => (peak = Math.max(peak, peakBytes(child.pid!) || 0)), SAMPLE_MS)
  await ended(child).finally(() => clearInterval(watch))
  return peak
}

async function runTarAndCurl(folder: string): Promise<void> {
  const tar = spawn('tar', ['-cz', '-C', folder, '.'], { stdio: ['ignore', 'pipe', 'inherit'] })
  const url = `${receiver.url}/api/v1/services/packed/deploys/upload`
  const curl = spawn('curl', ['-fsS', '-X', 'POST', '-T', '-', url], {
    stdio: [tar.stdout, 'ignore', 'inherit'],
  })
  // Only curl reads it.
  tar.stdout.destroy()
  await Promise.all([ended(tar), ended(curl)])
}

async function ended(child: ChildProcess): Promise<void> {
  let said = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (said += text))
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`${child.spawnargs.join(' ')} ended with ${code}: ${said}`)
}

function largeFolder(): string {
  const folder = join(place, 'large')
  mkdirSync(folder)
  const file = openSync(join(folder, 'data'), 'w')
  for (let mib = 0; mib < LARGE_MIB; mib++) writeSync(file, randomBytes(MIB))
  closeSync(file)
  return folder
}

function folderOfMany(): string {
  const folder = join(place, 'many')
  for (let number = 0; number < FILES; number++) {
    const inside = join(folder, `folder-${Math.floor(number / FILES_IN_FOLDER)}`)
    if (number % FILES_IN_FOLDER === 0) mkdirSync(inside, { recursive: true })
    const half = randomBytes(FILE_BYTES / 4).toString('hex')
    writeFileSync(join(inside, `module-${number % FILES_IN_FOLDER}.ts`), half.padEnd(FILE_BYTES))
  }
  return folder
}
