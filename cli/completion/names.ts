import { createHash } from 'node:crypto'
import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Call } from '../call.ts'
import type { Completes } from '../command.ts'

/** Names are kept for as long as somebody types one line. */
const KEPT_MS = 10_000
/** A shell that waits longer feels broken. */
const LIMIT_MS = 1_000

type Kind = Extract<Completes, string>

const PATHS: Partial<Record<Kind, string>> = {
  service: '/services',
  datastore: '/datastores',
  environment: '/environments',
  group: '/env-groups',
  node: '/nodes',
}

/** Lists that do not ask for an environment. */
const WHOLE_SERVER = new Set(['/environments', '/nodes'])

/** The names of a kind on the server; none if it does not answer in time. */
export async function namesOf(kind: Kind, call: Call): Promise<string[]> {
  try {
    if (kind === 'host') return Object.keys((await import('../client/hosts.ts')).readHosts().hosts)
    const path = kind === 'deploy' ? await deploysPath(call) : (PATHS[kind] ?? null)
    return path === null ? [] : await named(path, call)
  } catch {
    return []
  }
}

/** Where the deploys of the service are listed that the words or the folder name; null without one. */
async function deploysPath(call: Call): Promise<string | null> {
  const { findLink } = await import('../client/link.ts')
  const service = call.text('service') ?? findLink()?.service ?? null
  return service === null ? null : `/services/${encodeURIComponent(service)}/deploys`
}

async function named(path: string, call: Call): Promise<string[]> {
  const [{ connectTo }, { chooseServer }, { environmentOf }, { cacheFolder, writePrivate }] =
    await Promise.all([
      import('../client/api.ts'),
      import('../client/server.ts'),
      import('../client/target.ts'),
      import('../client/hosts.ts'),
    ])
  const server = chooseServer(call)
  // Starting ssh takes longer than a shell waits, and may ask for a password.
  if (server.token === null || server.url.startsWith('ssh://')) return []
  const api = await connectTo(server, call)
  const environment = WHOLE_SERVER.has(path) ? null : environmentOf(call, api)
  const key = createHash('sha256')
    .update(JSON.stringify([server.url, server.token, path, environment]))
    .digest('hex')
  const file = join(cacheFolder(), `${key.slice(0, 32)}.json`)
  const kept = readKept(file)
  if (kept) return kept
  const rows = await api.get<{ id: string; name?: string }[]>(
    path,
    { environment },
    { signal: AbortSignal.timeout(LIMIT_MS) },
  )
  const names = rows.map(({ id, name }) => name ?? id)
  writePrivate(file, JSON.stringify(names))
  api.close()
  return names
}

function readKept(file: string): string[] | null {
  try {
    if (Date.now() - statSync(file).mtimeMs > KEPT_MS) return null
    return JSON.parse(readFileSync(file, 'utf8')) as string[]
  } catch {
    return null
  }
}
