import { setTimeout as delay } from 'node:timers/promises'
import { messageOf } from '#server/errors.ts'
import { logger } from '#server/log.ts'
import type { AccessLines, Counts } from '#proxy/protocol.ts'
import { EntryClient } from './client.ts'
import { Pauses } from './pauses.ts'
import type { EntryWay, Listener, Terms } from './terms.ts'

const log = logger('entries')

/** A change of routes does not wait longer for one entry. */
const FOLLOW_MS = 5_000
/** A large site may come over a slow line. */
const BRING_MS = 10 * 60_000
/** How often one that has nothing to do is asked whether it is still there. */
const BEAT_MS = 5_000
/** So long an instance that leaves is kept for the requests through an entry that may be back by then. */
const AWAY_DRAIN_MS = 30_000
const SWEEP_MS = 3_600_000

const NOT_YET = 'as an entry, it does not serve yet'
const BY_EARLIER_ROUTES = 'as an entry, it serves by earlier routes'

/** The data plane on a node, as long as the node answers. It is waited for only while it answers. */
export class Entry {
  readonly #way: EntryWay
  readonly #listener: Listener
  #client: EntryClient | null = null
  #isFollowing = false
  /** Whether it may be serving by some table. */
  #hasServed: boolean
  #beginning: Promise<void> | null = null
  readonly #pauses = new Pauses()
  /** What is given to it, what comes next, and the newest terms. */
  #given: Promise<void> = Promise.resolve()
  #next: Promise<void> | null = null
  #wanted: Terms | null = null
  /** Resolves when it follows again. */
  #back = Promise.withResolvers<void>()
  #askedAt = 0
  #sweptAt = 0
  #counts: Counts | null = null
  /** The version of its table; null if that is not known. */
  #version: number | null = null
  /** The networks that it was last seen to. */
  #networks: string | null = null
  /** Aborts what is under way when it is given up. */
  #giving = new AbortController()
  readonly #first = Promise.withResolvers<void>()

  /** `mayServe` tells whether a data plane may be there from an earlier run of the server. */
  constructor(way: EntryWay, listener: Listener, mayServe = false) {
    this.#way = way
    this.#listener = listener
    this.#hasServed = mayServe
  }

  /** Whether changes wait for it: it answers, and has had every table since it does. */
  get isFollowing(): boolean {
    return this.#isFollowing
  }

  /** Settles when it was tried to begin, well or not. */
  get tried(): Promise<void> {
    return this.#first.promise
  }

  /** Settles when no try to begin is under way. */
  get idle(): Promise<void> | null {
    return this.#beginning
  }

  /** What it had counted when it was last asked; null before that. */
  get counts(): Counts | null {
    return this.#counts
  }

  /** Has it begin, unless that is tried already or was just now: brought about, reached, given the whole table. Does not throw. */
  begin(terms: () => Terms): void {
    if (this.#isFollowing || this.#beginning || this.#pauses.isOn) return
    if (!this.#hasServed && this.#pauses.isFirst) this.#listener.onFault(`${NOT_YET}: it is being prepared`)
    const { signal } = this.#giving
    this.#beginning = this.#begin(terms)
      .catch((error: unknown) => {
        if (!signal.aborted) this.#giveUp(error)
      })
      .finally(() => {
        this.#beginning = null
        this.#first.resolve()
      })
  }

  /**
   * Gives it a table, after what it is being given, unless there is a newer one by then. Resolves when it has it, or is given
   * up, in seconds. Does not throw.
   */
  async follow(terms: Terms): Promise<void> {
    if (!this.#isFollowing || this.#version === terms.table.version) return
    this.#wanted = terms
    this.#next ??= this.#given.then(() => {
      this.#next = null
      this.#given = this.#giveWanted()
      return this.#given
    })
    await this.#next
  }

  /** Brings what a table names before it is given one. Throws only the signal's reason. */
  async prepare({ table }: Terms, signal: AbortSignal): Promise<void> {
    if (!this.#isFollowing) return
    await this.#way
      .deliver(table, AbortSignal.any([signal, this.#until(BRING_MS)]))
      .catch((error: unknown) => {
        log.warn('a site is not on an entry yet', { error: messageOf(error) })
      })
    signal.throwIfAborted()
  }

  /**
   * Waits until it has no open request to an instance. While it does not follow, requests to the instance may be open there:
   * then it waits for its return, for a while. Does not throw.
   */
  async drain(instance: string, deadlineMs: number): Promise<void> {
    const began = performance.now()
    if (!this.#isFollowing) {
      if (!this.#hasServed) return
      const over = new AbortController()
      const waitMs = Math.min(deadlineMs, AWAY_DRAIN_MS)
      await Promise.race([
        this.#back.promise,
        delay(waitMs, undefined, { signal: over.signal }).catch(() => {}),
      ])
      over.abort()
    }
    const leftMs = Math.max(0, deadlineMs - (performance.now() - began))
    if (this.#isFollowing) await this.#client?.drain(instance, Math.ceil(leftMs)).catch(() => {})
  }

  /** Takes the oldest lines of access logs that wait there. Throws if it does not answer. */
  async accessLines(): Promise<AccessLines> {
    return (await this.#client?.accessLines()) ?? { lines: [], lost: {}, more: false }
  }

  /** Asks it, every few seconds, what it has counted, and so whether it is still there. Does not throw. */
  async beat(): Promise<void> {
    const now = performance.now()
    if (!this.#isFollowing || now - this.#askedAt < BEAT_MS) return
    this.#askedAt = now
    await this.#orGivenUp(async (signal) => {
      const counts = await this.#client!.counts()
      if (!signal.aborted) this.#counts = counts
    })
    if (!this.#isFollowing || now - this.#sweptAt < SWEEP_MS) return
    this.#sweptAt = now
    void this.#way
      .sweep(this.#until(BRING_MS))
      .catch((error: unknown) => log.debug('an entry was not swept', { error: messageOf(error) }))
  }

  /** Leaves it alone while its node does not answer: it goes on by its last table. */
  rest(): void {
    if (this.#isFollowing || this.#beginning) this.#leave()
    this.#pauses.forget()
    this.#listener.onFault(null)
  }

  /** Closes the connection; it goes on by its last table. */
  close(): void {
    this.#leave()
    this.#hasServed = false
    this.#back.resolve()
    this.#first.resolve()
  }

  async #begin(terms: () => Terms): Promise<void> {
    this.#networks = null
    const client = await this.#reach(terms())
    this.#client = client
    const signal = this.#until(BRING_MS)
    // Routes may change while a large site is brought.
    while (this.#version !== terms().table.version) await this.#give(terms(), signal)
    this.#counts = await client.counts()
    signal.throwIfAborted()
    client.onReconnect = () => {
      this.#version = null
      this.#listener.onReturn()
    }
    this.#isFollowing = true
    this.#hasServed = true
    this.#pauses.succeeded()
    this.#back.resolve()
    this.#listener.onFault(null)
    this.#listener.onReturn()
  }

  async #giveWanted(): Promise<void> {
    const terms = this.#wanted!
    if (!this.#isFollowing || this.#version === terms.table.version) return
    await this.#orGivenUp((signal) => this.#give(terms, signal))
  }

  async #reach(terms: Terms): Promise<EntryClient> {
    const { signal } = this.#giving
    await this.#way.ensure(terms.ports)
    this.#networks = terms.networks
    const client = await EntryClient.connect({
      reach: () => this.#way.reach(),
      log: (message, fields) => log.debug(message, fields),
    })
    if (!signal.aborted) return client
    client.close()
    throw signal.reason as Error
  }

  async #give(terms: Terms, signal: AbortSignal): Promise<void> {
    if (this.#networks !== terms.networks) {
      await this.#way.ensure(terms.ports)
      this.#networks = terms.networks
    }
    const table = await this.#way.deliver(terms.table, signal)
    signal.throwIfAborted()
    await this.#client!.applyTable(table)
    signal.throwIfAborted()
    this.#version = table.version
  }

  /** Does something with it that takes a moment; gives it up otherwise. */
  async #orGivenUp(work: (signal: AbortSignal) => Promise<void>): Promise<void> {
    const life = this.#giving.signal
    const signal = this.#until(FOLLOW_MS)
    const late = new AbortController()
    const tooLate = delay(FOLLOW_MS, undefined, { signal: late.signal }).then(() => {
      throw new Error(`it does not answer within ${FOLLOW_MS / 1_000} s`)
    })
    tooLate.catch(() => {})
    try {
      await Promise.race([work(signal), tooLate])
    } catch (error) {
      // Otherwise that has been done meanwhile, and it may even have begun again.
      if (!life.aborted) this.#giveUp(error)
    } finally {
      late.abort()
    }
  }

  #giveUp(error: unknown): void {
    this.#leave()
    this.#pauses.failed()
    this.#listener.onFault(`${this.#hasServed ? BY_EARLIER_ROUTES : NOT_YET}: ${messageOf(error)}`)
  }

  #leave(): void {
    if (this.#isFollowing) this.#back = Promise.withResolvers<void>()
    this.#isFollowing = false
    this.#version = null
    this.#giving.abort(new Error('the entry was given up'))
    this.#giving = new AbortController()
    this.#client?.close()
    this.#client = null
  }

  #until(milliseconds: number): AbortSignal {
    return AbortSignal.any([this.#giving.signal, AbortSignal.timeout(milliseconds)])
  }
}
