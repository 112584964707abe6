import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { greet } from '#daemon/proxy/greeting.ts'
import type { ServerInfo } from '#server/info.ts'
import { VERSION } from '#server/version.ts'
import { readOwnFlags } from '../own-flags.ts'
import { findServer, type RunningServer } from '../running.ts'
import { CONTROL_UNIT, DATA_UNIT, SETTINGS_FILE, UNIT_FOLDER } from './layout.ts'
import { unitState } from './systemd.ts'

/** As systemctl(1) says that something does not run. */
const NOT_RUNNING = 3
const ANSWER_LIMIT_MS = 5_000
const UNAUTHORIZED = 401

/** What a server says of itself: nothing to who has another token than its own, and `none` when it hangs. */
type Answer = ServerInfo | 'refused' | 'none'

/** `deployer status`: what runs on the data directory, units or not. Answers 0 when both programs run and answer. */
export async function status(argv: string[]): Promise<number> {
  const { options } = readOwnFlags('status', argv, { settings: ['api-token', 'api-token-file'] })
  const { dataDirectory, apiToken } = options
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
      existsSync(SETTINGS_FILE) ? SETTINGS_FILE : 'flags and variables; deployer install keeps them',
    ],
  ]
  for (const [name, text] of rows) process.stdout.write(`${name.padEnd(16)}${text}\n`)
  return answer && answer !== 'none' && proxy ? 0 : NOT_RUNNING
}

function controlText(server: RunningServer | null, answer: Answer | null): string {
  if (!server || !answer) return 'does not run, or not yet'
  if (answer === 'none') return `process ${server.pid} does not answer at ${server.url}`
  if (answer === 'refused')
    return `runs at ${server.url}, process ${server.pid}, and has another token: name its --api-token-file`
  return `runs version ${answer.version} at ${server.url}, process ${server.pid}`
}

function dataText(hello: { version: string; pid: number; listeners: { address: string }[] } | null): string {
  if (!hello) return 'does not run'
  const addresses = hello.listeners.map(({ address }) => address).join(' and ') || 'no address yet'
  // What follows the sign tells two builds of a version apart.
  return `runs version ${hello.version.split('+')[0]} at ${addresses}, process ${hello.pid}`
}

function engineText(answer: Answer | null): string {
  if (answer === null) return 'not known without the control plane'
  if (answer === 'none') return 'not known: the control plane does not answer'
  if (answer === 'refused') return 'not known without the token of the control plane'
  return answer.runtime_version ?? 'does not answer; the server goes on trying'
}

/** What systemd says, where there is a unit. */
async function unitText(unit: string): Promise<string> {
  if (!existsSync(join(UNIT_FOLDER, unit))) return ''
  const found = await unitState(unit).catch(() => null)
  if (!found) return ''
  const again = found.restarts === 0 ? '' : `, started anew ${found.restarts} times after a sudden end`
  return ` (${unit}: ${found.state} since ${found.since || 'never'}, ${found.enabled ? '' : 'not '}at boot${again})`
}

/** The token that the server has made; empty when it was given another one and has made none. */
function readToken(dataDirectory: string): string {
  try {
    return readFileSync(join(dataDirectory, 'api_token'), 'utf8').trim()
  } catch {
    return ''
  }
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
