/** Writes one line of JSON to the program's log: its standard error, which is `<data directory>/proxy/proxy.log`. */
export function log(
  level: 'info' | 'warn' | 'error',
  message: string,
  fields: Record<string, unknown> = {},
): void {
  const line = { ts: new Date().toISOString(), level, pid: process.pid, message, ...fields }
  process.stderr.write(`${JSON.stringify(line)}\n`)
}

/** The text of anything that was thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
