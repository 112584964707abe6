import { join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { Writable } from 'node:stream'
import { replacePassword } from '#server/accounts/operations.ts'
import { Password } from '#server/accounts/schema.ts'
import { selectAccount } from '#server/accounts/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { Call } from '../call.ts'
import { optionsOf } from './own-flags.ts'
import { isMissing, openBesideServer } from './running.ts'

/** A password has at most 256 characters of at most 4 bytes; longer input is rejected. */
const MAX_INPUT_BYTES = 4_096

/**
 * Runs `deployer reset-password`. Returns the exit code. On 1, one line was written
 * to standard error and nothing has changed.
 */
export async function resetPassword(call: Call): Promise<number> {
  try {
    process.stdout.write(`${await replace(optionsOf(call).dataDirectory)}\n`)
    return 0
  } catch (error) {
    process.stderr.write(`deployer reset-password: ${messageOf(error)}\n`)
    return 1
  }
}

async function replace(directory: string): Promise<string> {
  const file = join(directory, 'deployer.db')
  const none = new AppError(
    'not_found',
    `there is no account in ${directory}: set the server up first, or pass its --data-dir`,
  )
  if (isMissing(file)) throw none
  const database = await openBesideServer(file)
  try {
    if (!selectAccount(database)) throw none
    const password = Password.safeParse(await readPassword())
    if (!password.success) {
      throw new AppError(
        'invalid_request',
        `the password ${password.error.issues[0]!.message}; it was not changed`,
      )
    }
    const email = await replacePassword(database, password.data)
    return `The password of ${email} was replaced, and every session has ended. API tokens still work.`
  } finally {
    await database.close()
  }
}

async function readPassword(): Promise<string> {
  if (process.stdin.isTTY) return askTwice()
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of process.stdin as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size > MAX_INPUT_BYTES)
      throw new AppError('invalid_request', 'the text on standard input is too long for a password')
  }
  // The final line break belongs to the pipe, not to the password.
  return Buffer.concat(chunks)
    .toString('utf8')
    .replace(/\r?\n$/, '')
}

async function askTwice(): Promise<string> {
  // readline allows the usual editing; its echo is discarded.
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  const terminal = createInterface({ input: process.stdin, output: nowhere, terminal: true })
  const left = new AbortController()
  terminal.once('close', () => left.abort())
  const ask = async (prompt: string) => {
    process.stderr.write(prompt)
    try {
      return await terminal.question('', { signal: left.signal })
    } catch (cause) {
      throw new AppError('canceled', 'canceled; the password was not changed', { cause })
    } finally {
      process.stderr.write('\n')
    }
  }
  try {
    const password = await ask('New password: ')
    if (password !== (await ask('Again: '))) {
      throw new AppError('invalid_request', 'the two passwords differ; the password was not changed')
    }
    return password
  } finally {
    terminal.close()
  }
}
