import { basename } from 'node:path'
import { useDatabase } from '#server/context.ts'
import { mirrorOf } from '../sources/part.ts'

/**
 * The addresses of the repositories that services deploy, without credentials, by the name of their mirror's folder: a mirror
 * belongs to an address and to a connection, or to none. Mirrors of submodules and with credentials in addresses are missing.
 */
export function mirrorNames(): Map<string, string> {
  const database = useDatabase()
  const urls = database.all<{ repo_url: string }>(
    'SELECT DISTINCT repo_url FROM services WHERE repo_url IS NOT NULL',
  )
  const connections = database.all<{ id: string }>('SELECT id FROM git_connections')
  const holders = ['', ...connections.map(({ id }) => id)]
  return new Map(
    urls.flatMap(({ repo_url }) =>
      holders.map((holder) => [basename(mirrorOf('', repo_url, holder)), repo_url] as const),
    ),
  )
}
