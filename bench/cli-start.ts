// Measures how long the command line takes to start, as ratios to node on an empty file, in turns.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { builtServer } from '../test/support/build.ts'
import { startServer } from '../test/support/server.ts'
import { median } from './lib/figures.ts'

const ROUNDS = 20

const entry = await builtServer()
const client = join(dirname(entry), '../cli/deployer.mjs')
const place = mkdtempSync(join(tmpdir(), 'bench-cli-'))
const empty = join(place, 'empty.mjs')
writeFileSync(empty, '')
const server = await startServer()
await server.api('POST', '/services', { name: 'web', deploy: false })

/** What is run, with the most that its ratio should be. */
const PROGRAMS: [name: string, words: string[], aim: number | null][] = [
  ['node on an empty file', [empty], null],
  ['--version', [client, '--version'], 1.6],
  ['--help', [client, '--help'], 1.6],
  ["--version of the server's program", [entry, '--version'], 1.6],
  ['a completion', [client, '__complete', '--', 'show', 'w'], 4.5],
  ['services', [client, 'services'], 5],
  ['mcp to the answer of initialize', [client, 'mcp'], 6],
]
const INITIALIZE = JSON.stringify({
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'bench', version: '1' } },
})

const times = PROGRAMS.map((): number[] => [])
for (let round = 0; round < ROUNDS; round++)
  for (const [index, [, words]] of PROGRAMS.entries()) times[index]!.push(await timeOf(words, round))
const bare = median(times[0]!)
for (const [index, [name, , aim]] of PROGRAMS.entries()) {
  const took = median(times[index]!)
  const ratio = aim === null ? '' : `: ${(took / bare).toFixed(1)} times (aim: at most ${aim})`
  console.log(`${name.padEnd(36)}${took.toFixed(0)} ms${ratio}`)
}
await server.stop()
rmSync(place, { recursive: true, force: true })

/** How long a program takes to its end, or to its first output if it would go on. */
async function timeOf(words: string[], round: number): Promise<number> {
  const began = performance.now()
  const isServing = words.at(-1) === 'mcp'
  const child = spawn(process.execPath, words, {
    stdio: [isServing ? 'pipe' : 'ignore', 'pipe', 'inherit'],
    // Names are kept for a while: each completion asks the server.
    env: {
      PATH: process.env.PATH,
      HOME: place,
      XDG_CACHE_HOME: join(place, String(round)),
      DEPLOYER_HOST: server.url,
      DEPLOYER_TOKEN: server.token,
    },
  })
  child.stdin?.write(`${INITIALIZE}\n`)
  if (isServing) await once(child.stdout!, 'data')
  else child.stdout!.resume()
  if (!isServing) await once(child, 'close')
  const took = performance.now() - began
  child.kill()
  return took
}
