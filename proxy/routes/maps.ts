import type { CertificateFiles, NameZone, Target } from '../protocol.ts'
import { HostMap } from './host-map.ts'
import type { TargetRoute } from './target-route.ts'

/** The entries of a table by name, in the form that requests use. */
export class Maps {
  readonly targets: Map<string, TargetRoute> = new Map()
  readonly hosts: HostMap<TargetRoute> = new HostMap()
  readonly zones: Map<string, NameZone> = new Map()
  readonly certificates: HostMap<CertificateFiles> = new HostMap()
  readonly challenges: Map<string, string> = new Map()
  /** Targets with a site. */
  readonly published: Map<string, Target> = new Map()
}

/** What `Map` and `HostMap` have in common. */
interface Entries<Value> {
  set(name: string, value: Value): unknown
  delete(name: string): unknown
}

/** Changes to entries: collected until they are applied if the entries are in use, otherwise applied at once. */
export class EntriesDraft<Value> {
  readonly #entries: Entries<Value>
  readonly #changes: [string, Value | null][] | null

  constructor(entries: Entries<Value>, inUse: boolean) {
    this.#entries = entries
    this.#changes = inUse ? [] : null
  }

  /** Sets a value; null removes it. */
  put(name: string, value: Value | null): void {
    if (this.#changes) this.#changes.push([name, value])
    else this.#make(name, value)
  }

  /** Applies the collected changes. */
  apply(): void {
    for (const [name, value] of this.#changes ?? []) this.#make(name, value)
  }

  #make(name: string, value: Value | null): void {
    if (value === null) this.#entries.delete(name)
    else this.#entries.set(name, value)
  }
}
