import { join } from 'node:path'
import { FULL } from '#server/access/access.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { addToken } from '#server/tokens/operations.ts'
import { deleteToken } from '#server/tokens/store.ts'
import { assertSameSchema, openBesideServer, type RunningServer } from './running.ts'

/** A token that is left behind by a kill ends by itself. */
const TOKEN_MS = 24 * 3_600_000

/** Sends a request to the API of the server on this host; the body is JSON. Throws with the server's own words. */
export type LocalApi = <T>(method: string, path: string, body?: unknown) => Promise<T>

/**
 * Calls the API of the server that runs on a data directory, as its owner: with a token that is made in its database, and
 * revoked at the end.
 */
export async function withLocalApi<T>(
  dataDirectory: string,
  { url }: RunningServer,
  work: (api: LocalApi) => Promise<T>,
): Promise<T> {
  const file = join(dataDirectory, 'deployer.db')
  assertSameSchema(file)
  const database = await openBesideServer(file, null)
  try {
    const { token, api_token } = addToken(
      database,
      'command on this host',
      Date.now() + TOKEN_MS,
      FULL,
      'host',
    )
    try {
      return await work((method, path, body) => send(`${url}/api/v1${path}`, token, method, body))
    } finally {
      deleteToken(database, api_token.id)
    }
  } finally {
    await database.close()
  }
}

async function send<T>(url: string, token: string, method: string, body: unknown): Promise<T> {
  const response = await fetch(url, {
    method,
    headers: {
      authorization: `Bearer ${token}`,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }).catch((cause: unknown) => {
    throw new AppError('io_error', `the server at ${url} does not answer: ${messageOf(cause)}`, { cause })
  })
  const text = await response.text()
  if (!response.ok) throw new AppError('io_error', faultIn(text) ?? `the server answered ${response.status}`)
  return (text === '' ? undefined : JSON.parse(text)) as T
}

function faultIn(text: string): string | null {
  try {
    return (JSON.parse(text) as { error: { message: string } }).error.message
  } catch {
    return null
  }
}
