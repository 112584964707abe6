import { join } from 'node:path'
import { replacePassword } from '#server/accounts/operations.ts'
import { Password } from '#server/accounts/schema.ts'
import { hasSecondFactor } from '#server/accounts/second-factors/store.ts'
import { selectAccount } from '#server/accounts/store.ts'
import { AppError, messageOf } from '#server/errors.ts'
import type { Call } from '../call.ts'
import { withHiddenInput } from './hidden-input.ts'
import { optionsOf } from './own-flags.ts'
import { isMissing, openBesideServer } from './running.ts'

/** A password has at most 256 characters of at most 4 bytes; longer input is rejected. */
const MAX_INPUT_BYTES = 4_096

const WARNING =
  'This also removes the second factors: the authenticator app, passkeys and recovery codes. Keep them with --keep-second-factor.\n'

/**
 * Runs `deployer reset-password`. Returns the exit code. On 1, nothing has changed, and the last line on standard error says
 * why.
 */
export async function resetPassword(call: Call): Promise<number> {
  try {
    const keepsSecondFactor = call.has('keep-second-factor')
    process.stdout.write(`${await replace(optionsOf(call).dataDirectory, keepsSecondFactor)}\n`)
    return 0
  } catch (error) {
    process.stderr.write(`deployer reset-password: ${messageOf(error)}\n`)
    return 1
  }
}

async function replace(directory: string, keepsSecondFactor: boolean): Promise<string> {
  const file = join(directory, 'deployer.db')
  const none = new AppError(
    'not_found',
    `there is no account in ${directory}: set the server up first, or pass its --data-dir`,
  )
  if (isMissing(file)) throw none
  const database = await openBesideServer(file, 'account.password_reset')
  try {
    if (!selectAccount(database)) throw none
    const isTurnedOff = hasSecondFactor(database) && !keepsSecondFactor
    if (isTurnedOff) process.stderr.write(WARNING)
    const password = Password.safeParse(await readPassword())
    if (!password.success) {
      throw new AppError(
        'invalid_request',
        `the password ${password.error.issues[0]!.message}; it was not changed`,
      )
    }
    const email = await replacePassword(database, password.data, { keepsSecondFactor })
    const done = `The password of ${email} was replaced, and every session has ended. API tokens still work.`
    return isTurnedOff ? `${done} The second factors were removed: sign-in needs the password alone.` : done
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
  return await withHiddenInput('canceled; the password was not changed', async (ask) => {
    const password = await ask('New password: ')
    if (password !== (await ask('Again: '))) {
      throw new AppError('invalid_request', 'the two passwords differ; the password was not changed')
    }
    return password
  })
}
