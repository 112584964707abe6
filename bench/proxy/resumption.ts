import { spawnSync } from 'node:child_process'
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SECURE_HOST } from './ours.ts'
import type { Program } from './programs.ts'

const TIMEOUT_MS = 10_000

/** Whether openssl's client can resume its session in a second connection. */
export function resumes(program: Program): boolean {
  const file = join(tmpdir(), `deployer-bench-session-${process.pid}.pem`)
  try {
    connectWith(program, ['-sess_out', file])
    return /^Reused, /m.test(connectWith(program, ['-sess_in', file]))
  } finally {
    rmSync(file, { force: true })
  }
}

/** Connects once. Tickets of TLS 1.3 come after the handshake, so the connection lasts until an answer has come. */
function connectWith(program: Program, options: string[]): string {
  const { stdout } = spawnSync(
    'openssl',
    [
      's_client',
      '-connect',
      `127.0.0.1:${program.securePort}`,
      '-servername',
      SECURE_HOST,
      '-ign_eof',
      ...options,
    ],
    {
      input: `GET / HTTP/1.1\r\nHost: ${SECURE_HOST}\r\nConnection: close\r\n\r\n`,
      timeout: TIMEOUT_MS,
      encoding: 'utf8',
    },
  )
  return stdout
}
