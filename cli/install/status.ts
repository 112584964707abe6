import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { greet } from '#daemon/proxy/greeting.ts'
import { readOptions } from '#server/options.ts'
import type { ServerInfo } from '#server/info.ts'
import { VERSION } from '#server/version.ts'
import { findServer, type RunningServer } from '../running.ts'
import { CONTROL_UNIT, DATA_UNIT, SETTINGS_FILE, UNIT_FOLDER } from './layout.ts'
import { unitState } from './systemd.ts'

/** As systemctl(1) says that something does not run. */
const NOT_RUNNING = 3
const ANSWER_LIMIT_MS = 5_000

/** `deployer status`: what runs on the data directory, units or not. Answers 0 when both programs run. */
export async function status(argv: string[]): Promise<number> {
  const { dataDirectory, apiToken } = readOptions(argv)
  const server = findServer(dataDirectory)
  const info = server && (await askInfo(server, apiToken ?? readToken(dataDirectory)))
  const proxy = await greet(dataDirectory, 0).catch(() => null)
  proxy?.channel.close()
  const rows: [string, string][] = [
    ['command', `version ${VERSION}`],
    ['control plane', `${controlText(server, info)}${await unitText(CONTROL_UNIT)}`],
    ['data plane', `${dataText(proxy?.hello ?? null)}${await unitText(DATA_UNIT)}`],
    ['engine', engineText(server, info)],
    ['data directory', dataDirectory],
    [
      'settings',
      existsSync(SETTINGS_FILE) ? SETTINGS_FILE : 'flags and variables; deployer install keeps them',
    ],
  ]
  for (const [name, text] of rows) process.stdout.write(`${name.padEnd(16)}${text}\n`)
  return server && proxy ? 0 : NOT_RUNNING
}

function controlText(server: RunningServer | null, info: ServerInfo | null): string {
  if (!server) return 'does not run, or not yet'
  if (!info) return `process ${server.pid} does not answer at ${server.url}`
  return `runs version ${info.version} at ${server.url}, process ${server.pid}`
}

function dataText(hello: { version: string; pid: number; listeners: { address: string }[] } | null): string {
  if (!hello) return 'does not run'
  const addresses = hello.listeners.map(({ address }) => address).join(' and ') || 'no address yet'
  // What follows the sign tells two builds of a version apart.
  return `runs version ${hello.version.split('+')[0]} at ${addresses}, process ${hello.pid}`
}

function engineText(server: RunningServer | null, info: ServerInfo | null): string {
  if (!info)
    return server ? 'not known: the control plane does not answer' : 'not known without the control plane'
  return info.runtime_version ?? 'does not answer; the server goes on trying'
}

/** What systemd says, where there is a unit. */
async function unitText(unit: string): Promise<string> {
  if (!existsSync(join(UNIT_FOLDER, unit))) return ''
  const found = await unitState(unit).catch(() => null)
  if (!found) return ''
  const again = found.restarts === 0 ? '' : `, started anew ${found.restarts} times after a sudden end`
  return ` (${unit}: ${found.state} since ${found.since || 'never'}, ${found.enabled ? '' : 'not '}at boot${again})`
}

function readToken(dataDirectory: string): string {
  return readFileSync(join(dataDirectory, 'api_token'), 'utf8').trim()
}

async function askInfo({ url }: RunningServer, token: string): Promise<ServerInfo | null> {
  try {
    const response = await fetch(`${url}/api/v1/info`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    return response.ok ? ((await response.json()) as ServerInfo) : null
  } catch {
    return null
  }
}
