import { join } from 'node:path'
import { ensureSecretFile } from '../accounts/secret-file.ts'
import type { Context } from '../context.ts'
import { AppError } from '../errors.ts'
import { TOKEN_FORM } from '../options/secrets.ts'
import { sameSecret } from '../secrets.ts'
import { hide } from '../text/redaction.ts'
import { newToken } from './secret.ts'

let serverToken: string | undefined

/**
 * Sets the server token, which has no record: the one given at start, or the one in the file `<data-dir>/api_token`, which
 * is created if it does not exist. Returns it. Throws `io_error` when the file contains no token.
 */
export function ensureServerToken(context: Context): string {
  serverToken = context.options.apiToken ?? readOrMake(join(context.options.dataDirectory, 'api_token'))
  hide(serverToken)
  return serverToken
}

/** Whether this is the server token. Takes the same time for every wrong one. */
export function isServerToken(token: string): boolean {
  return serverToken !== undefined && sameSecret(token, serverToken)
}

function readOrMake(file: string): string {
  const token = ensureSecretFile(file, newToken)
  if (TOKEN_FORM.pattern.test(token)) return token
  throw new AppError('io_error', `${file} contains no token: remove it and start again to create a new one`)
}
