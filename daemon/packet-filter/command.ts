import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Rules take milliseconds; iptables may have to wait while the engine sets its own. */
const COMMAND_MS = 10_000
/** Where these programs are, which a user's path may lack. */
const SYSTEM_FOLDERS = '/usr/sbin:/sbin'

/** Runs a program of the packet filter and hands it `input`. Throws one line that names it and says what was wrong. */
export async function command(program: string, args: readonly string[], input = ''): Promise<string> {
  const env = { PATH: `${process.env.PATH ?? '/usr/bin:/bin'}:${SYSTEM_FOLDERS}`, LC_ALL: 'C' }
  try {
    const running = promisify(execFile)(program, args, { env, timeout: COMMAND_MS })
    running.child.stdin?.on('error', () => {}).end(input)
    return (await running).stdout
  } catch (cause) {
    const { code, stderr, message } = cause as { code?: unknown; stderr?: string; message: string }
    if (code === 'ENOENT') throw new Error(`${program} is not installed`, { cause })
    const [line] = (stderr?.trim() || message).split('\n')
    throw new Error(`${program}: ${line}`, { cause })
  }
}
