/** Writes one line of JSON to the program's log: standard error, which goes to `<data directory>/proxy/proxy.log`. */
export function log(
  level: 'info' | 'warn' | 'error',
  message: string,
  fields: Record<string, unknown> = {},
): void {
  const line = { ts: new Date().toISOString(), level, pid: process.pid, message, ...fields }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}

/** Returns the message of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
