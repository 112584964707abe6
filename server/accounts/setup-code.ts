import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Context } from '../context.ts'
import { randomHex } from '../ids.ts'
import { sameSecret } from '../secrets.ts'
import { ensureSecretFile, readSecretFile } from './secret-file.ts'
import { selectAccount } from './store.ts'

/** As long as a token: it cannot be guessed, so it needs no throttle. */
const CODE_BYTES = 20

/** Returns the code that setup needs, created if missing; null (and the code removed) when there is an account. */
export function ensureSetupCode(context: Context): string | null {
  if (!selectAccount(context.database))
    return ensureSecretFile(codeFile(context), () => randomHex(CODE_BYTES))
  removeSetupCode(context)
  return null
}

/** Whether `code` is the setup code. */
export function isSetupCode(context: Context, code: string): boolean {
  const expected = readSecretFile(codeFile(context))
  return expected !== undefined && sameSecret(code, expected)
}

/** Removes the code, which is used up once the account exists. */
export function removeSetupCode(context: Context): void {
  rmSync(codeFile(context), { force: true })
}

function codeFile(context: Context): string {
  return join(context.options.dataDirectory, 'setup_code')
}
