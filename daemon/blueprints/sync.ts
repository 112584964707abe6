import { recorded, SYSTEM } from '#server/audit/recording.ts'
import type { BlueprintResult } from '#server/blueprints/schema.ts'
import { findBlueprint, listBlueprints, settlePush, type BlueprintRow } from '#server/blueprints/store.ts'
import { addressOf, lastSyncOf, recordSync, whenBlueprintPushed } from '#server/blueprints/synced.ts'
import type { LastSync } from '#server/blueprints/synced-schema.ts'
import { changesOfApply } from '#server/blueprints/told.ts'
import { timestamp } from '#server/clock.ts'
import { useDatabase } from '#server/context.ts'
import { AppError, messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { sha256 } from '#server/secrets.ts'
import type { Task } from '../work/driver.ts'
import type { World } from '../world.ts'
import { applyBlueprint } from './apply.ts'
import { readRepositoryFile } from './repository-file.ts'

const log = logger('blueprints')

/** A remote that did not answer is asked again after this time. */
const PERIOD_MS = 60_000

/** Keeps blueprints in sync with the files of their repositories. */
export class BlueprintSync {
  readonly #world: World
  /** The syncs of one blueprint run one after another. */
  readonly #turns = new Map<string, Promise<unknown>>()

  constructor(world: World) {
    this.#world = world
  }

  /** Applies a blueprint as soon as a push to it is recorded. */
  task(wake: () => void): Task {
    whenBlueprintPushed(wake)
    return {
      name: 'blueprints',
      everyMs: PERIOD_MS,
      run: async () => {
        for (const { id, pending_commit } of listBlueprints().filter((row) => row.pending_commit !== null))
          await this.#inTurn(id, () => this.#applyPush(id, pending_commit!))
      },
    }
  }

  /** Reads the file at the head of the branch and applies it. Throws when that fails, and records the failure. */
  sync({ id }: BlueprintRow): Promise<BlueprintResult> {
    return this.#inTurn(id, async () => {
      const row = findBlueprint(id)
      return (await this.#run(row, { commit: null, confined: false }, false))!
    })
  }

  async #inTurn<T>(id: string, work: () => Promise<T>): Promise<T> {
    const before = this.#turns.get(id) ?? Promise.resolve()
    const turn = before.catch(() => {}).then(work)
    this.#turns.set(id, turn)
    try {
      return await turn
    } finally {
      if (this.#turns.get(id) === turn) this.#turns.delete(id)
    }
  }

  async #applyPush(id: string, commit: string): Promise<void> {
    const row = listBlueprints().find((other) => other.id === id)
    if (!row) return
    try {
      await this.#run(row, { commit, confined: true }, true)
    } catch (error) {
      if (!(error instanceof AppError)) throw error
      log.warn('a blueprint was not applied', { blueprint: row.name, error: error.message })
      // A remote that does not answer is asked again; a fault in the file has to wait for the next push.
      if (error.code === 'git_remote_unreachable' || error.code === 'git_provider_unavailable') return
    }
    settlePush(id, commit)
  }

  /** Returns null with `onlyChanged` when the file was already applied and the last sync did not fail. */
  async #run(
    row: BlueprintRow,
    which: { commit: string | null; confined: boolean },
    onlyChanged: boolean,
  ): Promise<BlueprintResult | null> {
    let commit = which.commit
    const record = (sync: Pick<LastSync, 'status' | 'error' | 'actions'>, digest?: string) =>
      recordSync(row.id, { at: timestamp(Date.now()), commit, ...sync }, digest)
    try {
      const url = addressOf(row)
      const file = await readRepositoryFile({ url, branch: row.branch, path: row.path, ...which })
      commit = file.commit
      const digest = sha256(file.yaml)
      const isSettled = digest === row.synced_digest && lastSyncOf(row)?.status !== 'failed'
      if (onlyChanged && isSettled) return null
      const context = { environment: row.environment ?? undefined, repository: { url, branch: row.branch } }
      const options = { dryRun: false, keepsHandSet: row.overwrite_variables === 0 }
      const apply = () => applyBlueprint(this.#world, file.yaml, context, options)
      const result = await (onlyChanged ? byItself(row, apply) : apply())
      const isChanged = result.actions.some(({ action }) => action !== 'unchanged')
      record({ status: isChanged ? 'succeeded' : 'unchanged', error: null, actions: result.actions }, digest)
      return result
    } catch (error) {
      record({ status: 'failed', error: messageOf(error), actions: [] })
      throw error
    }
  }
}

/** Applies a blueprint because of a push: nobody asked for it, so the audit log names the server. */
function byItself(
  { id, name, environment }: BlueprintRow,
  apply: () => Promise<BlueprintResult>,
): Promise<BlueprintResult> {
  const resource = { kind: 'blueprint', id, name, environment }
  return recorded(
    useDatabase(),
    { actor: SYSTEM, action: 'blueprint.synced' },
    () => ({ resource, changes: [] }),
    apply,
    (result) => {
      const changes = changesOfApply(result)
      return changes.length > 0 ? { resource, changes } : null
    },
  )
}
