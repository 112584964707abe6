import { useContext } from '../context.ts'
import { splitCredentials } from '../git/url.ts'
import type { ServiceRow } from '../services/store.ts'
import { shownUrl } from '../services/view.ts'
import { withDefaults } from './defaults.ts'
import { keptNode } from './kept-nodes.ts'
import type { WantedService } from './project.ts'

/**
 * The settings that a file wants for a service, as a patch without a repository whose address and credentials stay the same,
 * and with the node that its data is on.
 */
export function wantedPatch(
  fields: WantedService['fields'],
  there: ServiceRow | undefined,
): Record<string, unknown> {
  const { repo_url, ...wanted } = withDefaults(fields)
  const kept = keptNode(there)
  const patch = typeof wanted.node === 'string' && kept !== null ? { ...wanted, node: kept } : wanted
  if (repo_url === undefined || (there && typeof repo_url === 'string' && isSameRepository(repo_url, there)))
    return patch
  return { ...patch, repo_url }
}

/** Whether a service already has this repository with these credentials; masked ones count as the current ones. */
function isSameRepository(url: string, { repo_url, repo_credentials }: ServiceRow): boolean {
  if (repo_url === null) return false
  if (repo_credentials === null) {
    const { url: bare, username, password } = splitCredentials(url)
    return bare === repo_url && username === null && password === null
  }
  return url === shownUrl(repo_url, true) || url === useContext().vault.open(repo_credentials)
}
