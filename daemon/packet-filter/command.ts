import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Setting rules takes milliseconds, but iptables may have to wait while the engine sets its own. */
const COMMAND_MS = 10_000
/**
 * Where systems keep these programs (the last one is NixOS). The PATH of this process is not used: it may lack them, and
 * under `npm start` it begins with node_modules/.bin, where a package has a program named `nft` that traces files.
 */
const SYSTEM_PATH = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin'

/** Runs a program of the packet filter with `input`. Throws one line that names the program and says what went wrong. */
export async function command(program: string, args: readonly string[], input = ''): Promise<string> {
  const env = { PATH: SYSTEM_PATH, LC_ALL: 'C' }
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
