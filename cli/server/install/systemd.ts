import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { promisify } from 'node:util'
import { AppError } from '#server/errors.ts'

/** A unit that takes longer than this, which is more than its own limits allow, hangs. */
const SYSTEMCTL_LIMIT_MS = 120_000

/** The state of a unit in systemd. */
export interface UnitState {
  /** Whether there is such a unit. */
  loaded: boolean
  active: boolean
  /** `active`, `failed`, `activating`, ... */
  state: string
  /** Whether it starts at boot. */
  enabled: boolean
  /** The process id of its main process; null if it has none. */
  pid: number | null
  since: string
  /** How often systemd has restarted it after a crash. */
  restarts: number
}

/** Throws `invalid_request` on a host without systemd, and for users who are not root. */
export function requireSystemd(command: string): void {
  // sd_booted(3).
  if (!existsSync('/run/systemd/system'))
    throw new AppError(
      'invalid_request',
      `deployer ${command} needs systemd, which does not run here: use your own service manager to run deployer serve`,
    )
  if (process.getuid?.() !== 0) throw new AppError('invalid_request', `run deployer ${command} as root`)
}

/** Runs systemctl(1). Throws `io_error` with its error output. */
export async function systemctl(...words: string[]): Promise<string> {
  try {
    const { stdout } = await promisify(execFile)('systemctl', words, { timeout: SYSTEMCTL_LIMIT_MS })
    return stdout
  } catch (cause) {
    const { stderr, message } = cause as { stderr?: string; message: string }
    throw new AppError('io_error', `systemctl ${words.join(' ')}: ${stderr?.trim() || message}`, { cause })
  }
}

const PROPERTIES = [
  'LoadState',
  'ActiveState',
  'UnitFileState',
  'MainPID',
  'ActiveEnterTimestamp',
  'NRestarts',
]

/** Returns the state of a unit; one that does not exist is not loaded. */
export async function unitState(unit: string): Promise<UnitState> {
  const text = await systemctl('show', unit, ...PROPERTIES.map((name) => `--property=${name}`))
  const values = Object.fromEntries(
    text
      .trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
  ) as Record<string, string>
  return {
    loaded: values.LoadState === 'loaded',
    active: values.ActiveState === 'active' || values.ActiveState === 'reloading',
    state: values.ActiveState ?? 'unknown',
    enabled: values.UnitFileState === 'enabled',
    pid: Number(values.MainPID) || null,
    since: values.ActiveEnterTimestamp ?? '',
    restarts: Number(values.NRestarts) || 0,
  }
}
