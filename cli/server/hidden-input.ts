import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { AppError } from '#server/errors.ts'

/** Asks a question on the terminal; what is typed is not shown. */
type Ask = (prompt: string) => Promise<string>

/** Calls back with questions for secrets. Throws `canceled` with this message when the person leaves instead. */
export async function withHiddenInput<T>(canceled: string, work: (ask: Ask) => Promise<T>): Promise<T> {
  // readline allows the usual editing; its echo is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const left = new AbortController()
  terminal.once('close', () => left.abort())
  try {
    return await work(async (prompt) => {
      process.stderr.write(prompt)
      try {
        return await terminal.question('', { signal: left.signal })
      } catch (cause) {
        throw new AppError('canceled', canceled, { cause })
      } finally {
        process.stderr.write('\n')
      }
    })
  } finally {
    terminal.close()
  }
}
