import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Setting rules takes milliseconds, but iptables may have to wait while the engine sets its own. */
export const COMMAND_MS = 10_000
/**
 * Where systems keep these programs (the last one is NixOS). The PATH of this process is not used: it may lack them, and
 * under `npm start` it begins with node_modules/.bin, where a package has a program named `nft` that traces files.
 */
export const SYSTEM_PATH =
  '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin:/run/current-system/sw/bin'

/** Runs a program of a packet filter somewhere. Throws one line that names the program and says what went wrong. */
export type Run = (program: string, args: readonly string[], input?: string) => Promise<string>

/** Runs a program of the packet filter with `input`. Throws one line that names the program and says what went wrong. */
export async function command(program: string, args: readonly string[], input = ''): Promise<string> {
  const env = { PATH: SYSTEM_PATH, LC_ALL: 'C' }
  try {
    const running = promisify(execFile)(program, args, { env, timeout: COMMAND_MS })
    running.child.stdin?.on('error', () => {}).end(input)
    return (await running).stdout
  } catch (cause) {
    const { code, stderr, message } = cause as { code?: unknown; stderr?: string; message: string }
    if (code === 'ENOENT') throw new Error(notInstalled(program), { cause })
    throw new Error(failure(program, stderr?.trim() || message), { cause })
  }
}

/** The same in another network namespace, given by its file. */
export function commandIn(
  namespace: string,
  program: string,
  args: readonly string[],
  input?: string,
): Promise<string> {
  return command('nsenter', [`--net=${namespace}`, program, ...args], input)
}

export function notInstalled(program: string): string {
  return `${program} is not installed`
}

/** The first line of what a program printed, after its name. */
export function failure(program: string, printed: string): string {
  return `${program}: ${printed.split('\n')[0]}`
}
