/** Nouns of path segments, in the singular, where cutting the `s` does not do. */
const NOUNS: Record<string, string> = {
  'env-groups': 'env_group',
  'log-drains': 'log_drain',
  'registry-credentials': 'registry_credential',
  redirects: 'redirect_host',
  'secret-files': 'secret_file',
  connections: 'git_connection',
  uploaded: 'certificate',
  settings: 'server',
}

/** What a path that ends with this verb has done. */
const DONE: Record<string, string> = {
  cancel: 'canceled',
  move: 'moved',
  restart: 'restarted',
  restore: 'restored',
  resume: 'resumed',
  rollback: 'rolled_back',
  scale: 'scaled',
  suspend: 'suspended',
  sync: 'synced',
  test: 'tested',
  upgrade: 'upgraded',
  verify: 'verified',
}

/**
 * Names what an operation does, such as `service.updated`, by its method and its path (`/api/v1/services/:id`). Throws a
 * TypeError for a path that says no such thing: then its contract must name it.
 */
export function actionOf(method: string, path: string): string {
  const parts = partsOf(path)
  const last = parts.at(-1) ?? ''
  const itemNoun = itemNounOf(path)
  switch (method) {
    case 'DELETE':
      return `${itemNoun}.deleted`
    case 'PATCH':
    case 'PUT':
      return `${itemNoun}.updated`
    default: {
      const done = DONE[last]
      if (done) return `${itemNoun}.${done}`
      if (last in NOUNS || last.endsWith('s')) return `${nounOf(parts)}.created`
      throw new TypeError(`${method} ${path}: the contract must name its action`)
    }
  }
}

/** The kind of the last thing that a path names, such as `service`; without one, of what it is about. */
export function itemNounOf(path: string): string {
  const parts = partsOf(path)
  const lastItem = parts.findLastIndex((part) => part.startsWith(':'))
  return nounOf(lastItem > 0 ? parts.slice(0, lastItem) : parts)
}

/** Without `/api/v1`. */
function partsOf(path: string): string[] {
  return path.split('/').filter(Boolean).slice(2)
}

/** The noun of a collection; backups are called after what they are of, since each has ids of its own. */
function nounOf(parts: string[]): string {
  const last = parts.at(-1) ?? ''
  if (last === 'backups')
    return { disk: 'disk_backup', server: 'server_backup' }[parts.at(-2) ?? ''] ?? 'backup'
  return NOUNS[last] ?? last.replace(/s$/, '')
}
