import { AppError } from '#server/errors.ts'
import { FLAGS } from '#server/options/flags.ts'
import { readPassphrase } from '#server/options/secrets.ts'
import type { Call } from '../call.ts'
import { withHiddenInput } from './hidden-input.ts'

/** The passphrase in the file of `--passphrase-file`, else of the server's own variable; null without either. */
export function givenPassphrase(call: Call): string | null {
  const flag = call.text('passphrase-file')
  if (flag !== null) return readPassphrase('--passphrase-file', flag)
  const { variable } = FLAGS['backup-passphrase-file']
  const path = process.env[variable]
  return path ? readPassphrase(variable, path) : null
}

/** Asks for a passphrase on the terminal, without an echo. Throws `invalid_request` where there is none. */
export async function askPassphrase(call: Call): Promise<string> {
  if (!call.mayAsk)
    throw new AppError(
      'invalid_request',
      'the backup is sealed: pass the file of its passphrase with --passphrase-file',
    )
  return await withHiddenInput('canceled', (ask) => ask('Passphrase of the backup: '))
}
