/** Exit codes of the command line, as docs/cli.md lists them. */
export const EXIT = {
  failed: 1,
  wrongWords: 2,
  notSignedIn: 3,
  notFound: 4,
  conflict: 5,
  noConnection: 6,
  serverFault: 7,
  ownFault: 70,
  interrupted: 130,
  terminated: 143,
} as const

/** An error for the person at the terminal: one line that says what happened and what to do, and the exit code. */
export class Fault extends Error {
  override readonly name = 'Fault'
  readonly exitCode: number
  /** The API's error code, or what stands for it; for `--json`. */
  readonly code: string

  constructor(
    exitCode: number,
    message: string,
    { code, ...options }: ErrorOptions & { code?: string } = {},
  ) {
    super(message, options)
    this.exitCode = exitCode
    this.code = code ?? CODES[exitCode] ?? 'failed'
  }
}

const CODES: Record<number, string> = {
  [EXIT.wrongWords]: 'invalid_request',
  [EXIT.notSignedIn]: 'unauthorized',
  [EXIT.notFound]: 'not_found',
  [EXIT.conflict]: 'conflict',
  [EXIT.noConnection]: 'no_connection',
  [EXIT.serverFault]: 'internal_error',
  [EXIT.ownFault]: 'internal_error',
}

/** The error for wrong words on the command line or in a file. */
export function wrong(message: string, options?: ErrorOptions): Fault {
  return new Fault(EXIT.wrongWords, message, options)
}
