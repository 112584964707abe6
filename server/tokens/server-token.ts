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
 * Sets the token that is no record: the one given at start, else the file `<data-dir>/api_token`, which is made when it is
 * not there. Answers it. Throws `io_error` when the file holds no token.
 */
export function ensureServerToken(context: Context): string {
  serverToken = context.options.apiToken ?? readOrMake(join(context.options.dataDirectory, 'api_token'))
  hide(serverToken)
  return serverToken
}

/** Whether this is the server token; takes the same time for every wrong one. */
export function isServerToken(token: string): boolean {
  return serverToken !== undefined && sameSecret(token, serverToken)
}

function readOrMake(file: string): string {
  const token = ensureSecretFile(file, newToken)
  if (TOKEN_FORM.pattern.test(token)) return token
  throw new AppError('io_error', `${file} holds no token: remove it and start again, and a new one is made`)
}
