import { join } from 'node:path'
import { wordsOf } from '#server/access/words.ts'
import type { Resource } from '#server/audit/schema.ts'
import type { Database } from '#server/database/index.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { addToken, listTokens } from '#server/tokens/operations.ts'
import { TokenName } from '#server/tokens/schema.ts'
import { deleteToken } from '#server/tokens/store.ts'
import type { Call } from '../call.ts'
import { printList } from '../client/columns.ts'
import { timeText } from '../client/figures.ts'
import { optionsOf } from './own-flags.ts'
import { accessFrom } from './token-access.ts'
import { isMissing, openBesideServer } from './running.ts'

const HOUR_MS = 3_600_000
const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  h: HOUR_MS,
  d: 24 * HOUR_MS,
  w: 7 * 24 * HOUR_MS,
  y: 365 * 24 * HOUR_MS,
}
/** A token for longer may as well never expire. */
const MAX_YEARS = 100

/** Prints a new API token, once. A running server takes it at once. */
export async function create(call: Call): Promise<void> {
  const name = TokenName.safeParse(call.words[0])
  if (!name.success)
    throw new AppError('invalid_request', `the name of the token ${name.error.issues[0]!.message}`)
  const expiresAt = expiryOf(call.text('expires-in'))
  const work = (database: Database) => addToken(database, name.data, expiresAt, accessFrom(call, database))
  const about = { kind: 'token', id: null, name: name.data, environment: null }
  const { token, api_token } = await withDatabase(call, work, 'token.created', about)
  if (call.out.isJson) return call.out.json({ api_token, token })
  call.out.line(token)
  call.out.note(`This is shown once. deployer token revoke ${api_token.id} ends it.`)
}

/** Lists the tokens without their secrets; the server token, which has no record, is not among them. */
export async function list(call: Call): Promise<void> {
  const { out } = call
  const tokens = await withDatabase(call, (database) =>
    listTokens(database).map((token) => ({ ...token, words: wordsOf(token.access, database) })),
  )
  if (out.isJson) return out.json(tokens.map(({ words: _, ...token }) => token))
  printList(out, tokens, {
    columns: [
      { title: 'id', text: ({ id }) => id, isWhole: true },
      { title: 'name', text: ({ name }) => name, isWhole: true },
      { title: 'token', text: ({ hint }) => `…${hint}` },
      { title: 'created', text: ({ created_at }) => timeText(out, created_at) },
      { title: 'expires', text: ({ expires_at }) => timeText(out, expires_at) || 'never' },
      { title: 'last used', text: ({ last_used_at }) => timeText(out, last_used_at) || 'never' },
      { title: 'access', text: ({ words }) => words },
    ],
    name: ({ id }) => id,
    emptyNote: 'There is no token beside the server token. deployer token create <name> makes one.',
  })
}

/** Revokes a token. A running server refuses it at once; what is open with it ends within 5 s. */
export async function revoke(call: Call): Promise<void> {
  const id = call.words[0]!
  const about = { kind: 'token', id, name: null, environment: null }
  const isRevoked = await withDatabase(call, (database) => deleteToken(database, id), 'token.deleted', about)
  if (!isRevoked)
    throw new AppError('not_found', `there is no API token ${id}; deployer token list shows them`)
  call.out.done(`${id} is revoked`)
}

async function withDatabase<T>(
  call: Call,
  work: (database: Database) => T,
  action: string | null = null,
  resource: Resource | null = null,
): Promise<T> {
  const { dataDirectory } = optionsOf(call)
  const file = join(dataDirectory, 'deployer.db')
  if (isMissing(file))
    throw new AppError(
      'not_found',
      `no server has used ${dataDirectory} yet: start the server first, or pass its --data-dir`,
    )
  const database = await openBesideServer(file, action, resource)
  try {
    return work(database)
  } catch (cause) {
    if (cause instanceof AppError) throw cause
    throw new AppError('database_error', `${file} cannot be written: ${messageOf(cause)}`, { cause })
  } finally {
    await database.close()
  }
}

/** When a token ends that is to hold for a time such as `90d`; null without one. */
function expiryOf(text: string | null): number | null {
  if (text === null) return null
  const [, digits, unit = ''] = /^(\d{1,6})([mhdwy])$/.exec(text) ?? []
  const milliseconds = Number(digits) * (UNITS_MS[unit] ?? NaN)
  if (milliseconds > 0 && milliseconds <= MAX_YEARS * UNITS_MS.y!) return Date.now() + milliseconds
  throw new AppError(
    'invalid_request',
    `--expires-in takes a time such as 90d (m, h, d, w or y; at most ${MAX_YEARS}y)`,
  )
}
