import { announce } from '../changes.ts'
import { timestamp } from '../clock.ts'
import { useContext, useDatabase } from '../context.ts'
import { isUniqueViolation } from '../database/index.ts'
import { PRODUCTION } from '../environments/production.ts'
import { findEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { isFollowed, type Pushed } from '../git/refs.ts'
import { repositoryKey } from '../git/same-repository.ts'
import { splitCredentials } from '../git/url.ts'
import { newId } from '../ids.ts'
import { shownUrl } from '../services/view.ts'
import { hiddenFault } from '../text/redaction.ts'
import {
  deleteBlueprintRow,
  findBlueprint,
  insertBlueprint,
  listBlueprints,
  updateBlueprint,
  type BlueprintColumns,
  type BlueprintRow,
} from './store.ts'
import type {
  LastSync,
  SyncedBlueprint,
  SyncedBlueprintInput,
  SyncedBlueprintPatch,
} from './synced-schema.ts'

/** Records a blueprint of a repository. The first sync happens on request or with a push. */
export function createBlueprint(input: SyncedBlueprintInput): BlueprintRow {
  const now = Date.now()
  const row: BlueprintRow = {
    id: newId('blueprint'),
    name: input.name,
    repo_url: input.repo_url,
    repo_credentials: null,
    branch: null,
    path: null,
    environment: null,
    auto_sync: 1,
    overwrite_variables: 0,
    pending_commit: null,
    synced_digest: null,
    last_sync: null,
    created_at: now,
    updated_at: now,
    ...columnsOf(input),
  }
  withUniqueName(row.name, () => insertBlueprint(row))
  announceBlueprints()
  return row
}

/** Changes a blueprint. The next sync applies the file even if it has not changed. */
export function patchBlueprint(row: BlueprintRow, patch: SyncedBlueprintPatch): BlueprintRow {
  const { repo_url, ...rest } = patch
  const isShown = row.repo_credentials !== null && repo_url === shownUrl(row.repo_url, true)
  const columns = columnsOf(isShown ? rest : patch)
  if (Object.keys(columns).length === 0) return row
  withUniqueName(patch.name ?? row.name, () =>
    updateBlueprint(row.id, { ...columns, synced_digest: null, updated_at: Date.now() }),
  )
  announceBlueprints()
  return findBlueprint(row.id)
}

/** Deletes a blueprint; what it created stays. */
export function deleteBlueprint({ id }: BlueprintRow): void {
  deleteBlueprintRow(id)
  announceBlueprints()
}

/** The repository's address with its credentials. */
export function addressOf({ repo_url, repo_credentials }: BlueprintRow): string {
  return repo_credentials === null ? repo_url : useContext().vault.open(repo_credentials)
}

/** How the last sync ended; null before the first. */
export function lastSyncOf({ last_sync }: BlueprintRow): LastSync | null {
  return last_sync === null ? null : (JSON.parse(last_sync) as LastSync)
}

/** Records how a sync ended, with the digest of the file if it was applied. */
export function recordSync(id: string, sync: LastSync, digest?: string): void {
  updateBlueprint(id, {
    last_sync: JSON.stringify(sync),
    ...(digest === undefined ? {} : { synced_digest: digest }),
  })
  announceBlueprints()
}

let onPush = () => {}

/** Sets the one listener that is called when a push to the branch of a blueprint was recorded. */
export function whenBlueprintPushed(listener: () => void): void {
  onPush = listener
}

/** A push to a branch, or of a tag, of a repository. */
export interface PushedHead extends Pushed {
  after: string
  repositories: ReadonlySet<string>
}

/** Marks the blueprints that follow a pushed branch or tag for a sync. Returns their names. */
export function noteBlueprintPush(push: PushedHead, isAllowed: (url: string) => boolean): string[] {
  const affected = listBlueprints().filter((row) => {
    if (row.auto_sync === 0 || !isFollowed(row.branch, push)) return false
    const key = repositoryKey(row.repo_url)
    return key !== null && push.repositories.has(key) && isAllowed(row.repo_url)
  })
  for (const { id } of affected) updateBlueprint(id, { pending_commit: push.after })
  if (affected.length > 0) onPush()
  return affected.map(({ name }) => name)
}

/** A synced blueprint as the API returns it. */
export function viewBlueprint(row: BlueprintRow): SyncedBlueprint {
  return {
    id: row.id,
    name: row.name,
    repo_url: shownUrl(row.repo_url, row.repo_credentials !== null),
    branch: row.branch,
    path: row.path,
    environment: row.environment ?? PRODUCTION,
    auto_sync: row.auto_sync === 1,
    overwrite_variables: row.overwrite_variables === 1,
    last_sync: lastSyncOf(row),
    created_at: timestamp(row.created_at),
    updated_at: timestamp(row.updated_at),
  }
}

function columnsOf(input: SyncedBlueprintPatch): BlueprintColumns {
  const { name, repo_url, branch, path, environment, auto_sync, overwrite_variables } = input
  const columns: BlueprintColumns = {}
  if (name !== undefined) columns.name = name
  if (branch !== undefined) columns.branch = branch
  if (path !== undefined) columns.path = path
  if (environment !== undefined)
    columns.environment = environment === null ? null : findEnvironment(environment).name
  if (auto_sync !== undefined) columns.auto_sync = auto_sync ? 1 : 0
  if (overwrite_variables !== undefined) columns.overwrite_variables = overwrite_variables ? 1 : 0
  if (repo_url !== undefined) {
    const fault = hiddenFault(repo_url)
    if (fault !== null) throw new AppError('invalid_request', `repo_url: ${fault}`)
    const { url, username, password } = splitCredentials(repo_url)
    columns.repo_url = url
    const isOpen = username === null && password === null
    columns.repo_credentials = isOpen ? null : useContext().vault.seal(repo_url)
  }
  return columns
}

function withUniqueName(name: string, write: () => void): void {
  useDatabase().transaction(() => {
    try {
      write()
    } catch (cause) {
      if (!isUniqueViolation(cause)) throw cause
      throw new AppError('conflict', `name: ${name} is in use by blueprint ${findBlueprint(name).id}`, {
        cause,
      })
    }
  })
}

/** Reports a change of blueprints as a resync, since they have no kind of their own in the change feed. */
function announceBlueprints(): void {
  announce({ kind: 'all', id: '*', service_id: null, action: 'resync' })
}
