import { examineHost } from '#daemon/doctor/host.ts'
import type { Finding } from '#server/doctor/schema.ts'
import type { Call } from '../call.ts'
import { printFindings } from '../client/findings.ts'
import { optionsOf } from './own-flags.ts'
import { findServer, readToken, type RunningServer } from './running.ts'

/** More than an examination takes. A server that is slower has other problems, which examining the host shows. */
const ANSWER_LIMIT_MS = 6_000
const UNAUTHORIZED = 401
/** The exit code when a check has failed. */
const UNWELL = 3

/**
 * Prints what a running server says when it examines itself, else what can be seen from outside of it. Returns 3 when a check
 * has failed, else 0.
 */
export async function doctor(call: Call): Promise<never> {
  const options = optionsOf(call)
  const server = findServer(options.dataDirectory)
  const answer = server
    ? await ask(server, options.apiToken ?? readToken(options.dataDirectory))
    : `no server runs on ${options.dataDirectory}`
  const findings = typeof answer === 'string' ? await examineHost(options, answer) : answer
  const code = printFindings(call.out, findings) ? 0 : UNWELL
  // A check that hangs must not keep the command from ending.
  await new Promise((resolve) => process.stdout.write('', resolve))
  process.exit(code)
}

/** The findings of the server, or why it gives none. */
async function ask({ url, pid }: RunningServer, token: string): Promise<Finding[] | string> {
  try {
    const response = await fetch(`${url}/api/v1/server/doctor`, {
      headers: { authorization: `Bearer ${token}` },
      signal: AbortSignal.timeout(ANSWER_LIMIT_MS),
    })
    if (response.status === UNAUTHORIZED)
      return 'the running server rejects this token: pass its --api-token-file'
    if (response.ok) return (await response.json()) as Finding[]
    return `the running server answers with status ${response.status}`
  } catch {
    return `the running server (process ${pid}) does not answer at ${url}`
  }
}
