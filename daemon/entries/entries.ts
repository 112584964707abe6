import { setTimeout as delay } from 'node:timers/promises'
import { onChange } from '#server/changes.ts'
import { listEnvironments } from '#server/environments/store.ts'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import { formerEntries, otherEntries } from '#server/nodes/entries.ts'
import { entryFault, noteEntryFault } from '#server/nodes/entry-faults.ts'
import { getNode, nodeName, updateNode, type NodeRow } from '#server/nodes/store.ts'
import type { BoundListener, Counts, RouteTable } from '#proxy/protocol.ts'
import type { DataPlane } from '../proxy/data-plane.ts'
import type { LineSource, OtherPlanes } from '../proxy/other-planes.ts'
import { isAnswering, isLost } from '../nodes/presence.ts'
import type { Task } from '../work/driver.ts'
import { forEachLimited } from '../work/each.ts'
import { removeEntry } from './container.ts'
import { Entry } from './entry.ts'
import { entryTable } from './table.ts'
import type { Terms } from './terms.ts'
import { wayTo, type Ground } from './way.ts'

const log = logger('entries')

const PERIOD_MS = 1_000
/** A server without entries looks only when a node changes. */
const IDLE_MS = 3_600_000
/** After a start of the server, changes wait so long for entries that were not reached yet. */
const FIRST_MS = 5_000
const STILL_SERVES = 'it is no entry any more, but still serves requests and has private keys'

interface Parts extends Ground {
  dataPlane: Pick<DataPlane, 'sync'>
}

/** The data planes of other nodes. */
export class Entries implements OtherPlanes {
  readonly #parts: Parts
  readonly #entries = new Map<string, Entry>()
  /** Nodes whose former entry is being removed. */
  readonly #ending = new Set<string>()
  readonly #isFirst: Promise<unknown> | null
  #latest: { table: RouteTable; bound: readonly BoundListener[] } | null = null
  #terms: Terms | null = null

  constructor(parts: Parts) {
    this.#parts = parts
    const known = otherEntries().filter(({ status }) => status === 'ready')
    const tried = known.map((row) => this.#provide(row.id).tried)
    this.#isFirst =
      tried.length === 0
        ? null
        : Promise.race([Promise.all(tried), delay(FIRST_MS, undefined, { ref: false })])
  }

  /** Brings entries about, keeps them served, and removes those that are none any more. `wake` runs the task at once. */
  task(wake: () => void): Task {
    const stopListening = onChange(({ kind }) => {
      if (kind === 'node') wake()
    })
    const isNeeded = () => this.#entries.size > 0 || formerEntries().length > 0
    return {
      name: 'entries',
      get everyMs() {
        return isNeeded() ? PERIOD_MS : IDLE_MS
      },
      run: async (signal) => {
        signal.addEventListener('abort', stopListening, { once: true })
        await this.#look()
      },
    }
  }

  async apply(table: RouteTable, bound: readonly BoundListener[]): Promise<void> {
    if (this.#entries.size === 0) {
      this.#latest = null
      return
    }
    this.#latest = { table, bound }
    await this.#isFirst
    const following = this.#following()
    if (following.length === 0) return
    const terms = this.#termsNow()
    await Promise.all(following.map((entry) => entry.follow(terms)))
  }

  async prepare(table: RouteTable, bound: readonly BoundListener[], signal: AbortSignal): Promise<void> {
    const terms = termsOf(table, bound)
    await Promise.all(this.#following().map((entry) => entry.prepare(terms, signal)))
  }

  async drain(instance: string, deadlineMs: number): Promise<void> {
    const present = [...this.#entries].filter(([nodeId]) => !isLost(nodeId))
    await Promise.all(present.map(([, entry]) => entry.drain(instance, deadlineMs)))
  }

  counts(): ReadonlyMap<string, Counts | null> {
    return new Map([...this.#entries].map(([nodeId, { counts }]) => [nodeId, counts]))
  }

  sources(): ReadonlyMap<string, LineSource> {
    return new Map([...this.#entries].filter(([, { isFollowing }]) => isFollowing))
  }

  /** Ends the entry of a node that leaves, which answers. Throws `runtime_error`. */
  async end(nodeId: string): Promise<void> {
    if (getNode(nodeId)?.has_data_plane !== 1) return
    this.#ending.add(nodeId)
    updateNode(nodeId, { is_entry: 0 })
    try {
      const entry = this.#entries.get(nodeId)
      entry?.close()
      await entry?.idle
      await this.#remove(nodeId)
    } catch (error) {
      updateNode(nodeId, { is_entry: 1 })
      throw error
    } finally {
      this.#ending.delete(nodeId)
    }
  }

  close(): void {
    for (const entry of this.#entries.values()) entry.close()
  }

  async #look(): Promise<void> {
    const rows = otherEntries()
    for (const [nodeId, entry] of this.#entries)
      if (!rows.some(({ id }) => id === nodeId)) this.#forget(nodeId, entry)
    for (const row of formerEntries()) if (!this.#entries.has(row.id)) this.#endFormer(row)
    await forEachLimited(rows, rows.length, (row) => this.#settle(row))
  }

  /** Removes what serves on a node that is no entry any more, and says so while that is not done. */
  #endFormer(row: NodeRow): void {
    const { id } = row
    const note = (why: string) => noteEntryFault(id, `${STILL_SERVES}: ${why}`)
    if (this.#ending.has(id)) return
    if (!this.#answers(row)) return note('it ends once the node answers')
    this.#ending.add(id)
    void this.#remove(id)
      .then(
        () => noteEntryFault(id, null),
        (error: unknown) => note(messageOf(error)),
      )
      .finally(() => this.#ending.delete(id))
  }

  async #settle(row: NodeRow): Promise<void> {
    const entry = this.#provide(row.id)
    if (!this.#answers(row)) return entry.rest()
    if (entry.isFollowing) return entry.beat()
    if (!this.#latest) return this.#sync()
    if (row.has_data_plane === 0) updateNode(row.id, { has_data_plane: 1 })
    entry.begin(() => this.#termsNow())
  }

  /** Has the table sent to entries, in the background. */
  #sync(): void {
    this.#parts.dataPlane
      .sync()
      .catch((error: unknown) => log.debug('routes are sent later', { error: messageOf(error) }))
  }

  #answers(row: NodeRow): boolean {
    return isAnswering(this.#parts, row)
  }

  #provide(nodeId: string): Entry {
    const known = this.#entries.get(nodeId)
    if (known) return known
    const listener = {
      onFault: (fault: string | null) => {
        if (fault !== entryFault(nodeId))
          log.info('an entry has changed', { node: nodeName(nodeId), reason: fault ?? '' })
        noteEntryFault(nodeId, fault)
      },
      onReturn: () => {
        log.info('an entry serves', { node: nodeName(nodeId) })
        this.#sync()
      },
    }
    const entry = new Entry(wayTo(nodeId, this.#parts), listener, getNode(nodeId)?.has_data_plane === 1)
    this.#entries.set(nodeId, entry)
    return entry
  }

  #forget(nodeId: string, entry: Entry): void {
    entry.close()
    noteEntryFault(nodeId, null)
    // A try to begin could bring back what is removed.
    if (!entry.idle) this.#entries.delete(nodeId)
  }

  async #remove(nodeId: string): Promise<void> {
    await removeEntry(this.#parts.engineOf(nodeId))
    updateNode(nodeId, { has_data_plane: 0 })
    log.info('an entry has ended', { node: nodeName(nodeId) })
  }

  #following(): Entry[] {
    return [...this.#entries.values()].filter(({ isFollowing }) => isFollowing)
  }

  /** What entries are to serve by now. */
  #termsNow(): Terms {
    const { table, bound } = this.#latest!
    if (this.#terms?.table.version !== table.version) this.#terms = termsOf(table, bound)
    return this.#terms
  }
}

function termsOf(table: RouteTable, bound: readonly BoundListener[]): Terms {
  const own = entryTable(table, bound, listEnvironments())
  return {
    table: own,
    ports: own.listeners.map(({ address }) => Number(address.split(':').at(-1))),
    networks: Object.entries(table.zones)
      .map(([id, { subnet }]) => `${id} ${subnet}`)
      .join(),
  }
}
