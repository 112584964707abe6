import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { greet } from '#daemon/proxy/greeting.ts'
import type { ServerInfo } from '#server/info.ts'
import { VERSION } from '#server/version.ts'
import type { Call } from '../../call.ts'
import { optionsOf } from '../own-flags.ts'
import { findServer, readToken, type RunningServer } from '../running.ts'
import { CONTROL_UNIT, DATA_UNIT, SETTINGS_FILE, UNIT_FOLDER } from './layout.ts'
import { unitState } from './systemd.ts'

/** The exit code with which systemctl(1) says that something does not run. */
const NOT_RUNNING = 3
const ANSWER_LIMIT_MS = 5_000
const UNAUTHORIZED = 401

/** What a server says about itself; `refused` if its token is another one, `none` if it does not respond. */
type Answer = ServerInfo | 'refused' | 'none'

/** `deployer status`: shows what runs on the data directory, in units or not. Returns 0 if both programs run and respond. */
export async function status(call: Call): Promise<number> {
  const { dataDirectory, apiToken } = optionsOf(call)
  const server = findServer(dataDirectory)
  const answer = server && (await askInfo(server, apiToken ?? readToken(dataDirectory)))
  const proxy = await greet(dataDirectory, 0).catch(() => null)
  proxy?.channel.close()
  const rows: [string, string][] = [
    ['command', `version ${VERSION}`],
    ['control plane', `${controlText(server, answer)}${await unitText(CONTROL_UNIT)}`],
    ['data plane', `${dataText(proxy?.hello ?? null)}${await unitText(DATA_UNIT)}`],
    ['engine', engineText(answer)],
    ['data directory', dataDirectory],
    [
      'settings',
      existsSync(SETTINGS_FILE) ? SETTINGS_FILE : 'flags and variables; deployer install saves them',
    ],
  ]
  for (const [name, text] of rows) process.stdout.write(`${name.padEnd(16)}${text}\n`)
  return answer && answer !== 'none' && proxy ? 0 : NOT_RUNNING
}

function controlText(server: RunningServer | null, answer: Answer | null): string {
  if (!server || !answer) return 'does not run, or is not ready yet'
  if (answer === 'none') return `process ${server.pid} does not answer at ${server.url}`
  if (answer === 'refused')
    return `runs at ${server.url}, process ${server.pid}, but rejects this token: pass its --api-token-file`
  return `runs version ${answer.version} at ${server.url}, process ${server.pid}`
}

function dataText(hello: { version: string; pid: number; listeners: { address: string }[] } | null): string {
  if (!hello) return 'does not run'
  const addresses = hello.listeners.map(({ address }) => address).join(' and ') || 'no address yet'
  // The part after the plus sign only distinguishes builds of the same version.
  return `runs version ${hello.version.split('+')[0]} at ${addresses}, process ${hello.pid}`
}

function engineText(answer: Answer | null): string {
  if (answer === null) return 'unknown: the control plane does not run'
  if (answer === 'none') return 'unknown: the control plane does not answer'
  if (answer === 'refused') return 'unknown: the control plane rejects this token'
  return answer.runtime_version ?? 'does not answer; the server keeps trying'
}

/** Returns what systemd says about a unit, if it exists. */
async function unitText(unit: string): Promise<string> {
  if (!existsSync(join(UNIT_FOLDER, unit))) return ''
  const found = await unitState(unit).catch(() => null)
  if (!found) return ''
  const again = found.restarts === 0 ? '' : `, restarted ${found.restarts} times after a crash`
  return ` (${unit}: ${found.state} since ${found.since || 'never'}, ${found.enabled ? '' : 'not '}at boot${again})`
}

async function askInfo({ url }: RunningServer, token: string): Promise<Answer> {
  try {
    const response = await fetch(`${url}/api/v1/info`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    if (response.status === UNAUTHORIZED) return 'refused'
    return response.ok ? ((await response.json()) as ServerInfo) : 'none'
  } catch {
    return 'none'
  }
}
