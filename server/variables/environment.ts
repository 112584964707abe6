import { useContext } from '../context.ts'
import { groupIdsOf } from '../env-groups/store.ts'
import { loadEnvironment, type Environment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { portOf } from '../services/ports.ts'
import { qualifiedName } from '../services/qualified-name.ts'
import { getService, type ServiceRow } from '../services/store.ts'
import { TYPES } from '../services/types.ts'
import { callersReferenceSight, WHOLE_SIGHT, type ReferenceSight } from './callers-references.ts'
import {
  ESCAPE_HINT,
  OPENING,
  parseValue,
  ReferenceFault,
  writeReference,
  type Reference,
} from './references.ts'
import { MAX_VALUE_BYTES, sizeFault } from './rules.ts'
import { keepVariablePort, readSealed } from './store.ts'
import { findTarget, type Target } from './targets.ts'

/** How many references may follow one another before a value is reached; deeper chains are almost certainly a mistake. */
const MAX_HOPS = 32
/** After so many faults of one change, no more of its services are checked. */
const MAX_REPORTED_FAULTS = 1_000

/** A value, and how many references follow one another inside it. */
interface Resolved {
  text: string
  hops: number
}

/** The way to a value: the variable that is being resolved, then those that its references go through. */
type Way = readonly { key: string; service: ServiceRow }[]

/**
 * Reads the variables of services at one moment. Everything is read and unsealed once, so an instance is valid only until
 * the next write.
 */
export class Reading {
  readonly #environments = new Map<string, Environment>()
  readonly #targets = new Map<string, Target | null>()
  readonly #groups = new Map<string, string[]>()
  readonly #sealed = new Map<string, Map<string, Uint8Array>>()
  readonly #opened = new Map<Uint8Array, string>()
  readonly #resolved = new Map<Uint8Array, Resolved>()
  readonly #sight: ReferenceSight

  constructor(sight: ReferenceSight = WHOLE_SIGHT) {
    this.#sight = sight
  }

  /**
   * The whole environment of a service with its references resolved: its groups' variables in the order of the links,
   * overridden by its own. A variable that cannot be resolved is left out and reported to `onFault`; without it, the first
   * ReferenceFault is thrown.
   */
  resolve(service: ServiceRow, onFault: (fault: ReferenceFault) => void = refuse): Map<string, string> {
    const values = new Map<string, string>()
    for (const [key, sealed] of this.#effective(service)) {
      const way = [{ key, service }]
      const isOwn = this.isOwn(service, key)
      try {
        values.set(key, (isOwn ? this.#resolveOwn(sealed, way) : this.#expand(sealed, way)).text)
      } catch (error) {
        if (!(error instanceof ReferenceFault)) throw error
        onFault(error)
      }
    }
    const fault = sizeFault(values)
    if (fault) onFault(new ReferenceFault(`the whole environment of service ${this.#name(service)} ${fault}`))
    return values
  }

  /** The unresolved value of one variable of a service's environment; undefined when there is none. */
  written(service: ServiceRow, key: string): string | undefined {
    const sealed = this.#effective(service).get(key)
    return sealed && this.#open(sealed)
  }

  /** Whether a variable is the service's own, and not a group's. */
  isOwn(service: ServiceRow, key: string): boolean {
    return this.#held(service.id).has(key)
  }

  #effective(service: ServiceRow): Map<string, Uint8Array> {
    const groups = remember(this.#groups, service.id, () => groupIdsOf(service.id))
    return new Map([...groups, service.id].flatMap((holder) => [...this.#held(holder)]))
  }

  #held(holder: string): Map<string, Uint8Array> {
    return remember(
      this.#sealed,
      holder,
      () => new Map(readSealed(holder).map(({ key, value }) => [key, value])),
    )
  }

  #open(sealed: Uint8Array): string {
    return remember(this.#opened, sealed, () => useContext().vault.open(sealed))
  }

  /** Resolves a service's own variable, once for all that refer to it. */
  #resolveOwn(sealed: Uint8Array, way: Way): Resolved {
    return remember(this.#resolved, sealed, () => this.#expand(sealed, way))
  }

  #expand(sealed: Uint8Array, way: Way): Resolved {
    const texts: string[] = []
    let bytes = 0
    let hops = 0
    for (const part of parseValue(this.#open(sealed))) {
      const resolved = typeof part === 'string' ? { text: part, hops: 0 } : this.#follow(part, way)
      bytes += Buffer.byteLength(resolved.text)
      if (bytes > MAX_VALUE_BYTES)
        this.#refuse(way, `is longer than ${MAX_VALUE_BYTES / 1024} KiB when resolved`)
      texts.push(resolved.text)
      hops = Math.max(hops, resolved.hops)
    }
    return { text: texts.join(''), hops }
  }

  #follow(reference: Reference, way: Way): Resolved {
    const { service: holder } = way.at(-1)!
    const environment = this.#environment(holder)
    const written = writeReference(reference)
    const isOwn = this.isOwn(holder, way.at(-1)!.key)
    const isHidden = isOwn && this.#sight.isHidden(holder, reference, environment.name)
    const target = isHidden ? null : this.#target(reference, environment)
    if (!target) {
      this.#refuse(
        way,
        `${written} is missing: ${environment.name} has no ${reference.kind} ${reference.name}`,
        reference.name,
      )
    }
    if (target.service?.id === holder.id)
      this.#refuse(way, `${written} is the service itself, which may not refer to itself`)
    if (reference.key !== null) return this.#followVariable(reference.key, target.service!, written, way)
    const text = target.property(reference.property)
    if (text === null) {
      this.#refuse(way, `${written} is missing: ${target.label} has no ${reference.property}`)
    }
    return { text, hops: 0 }
  }

  #followVariable(key: string, service: ServiceRow, written: string, way: Way): Resolved {
    const sealed = this.#held(service.id).get(key)
    if (!sealed) {
      this.#refuse(
        way,
        `${written} is missing: service ${this.#name(service)} has no variable ${key} of its own`,
        service.name,
      )
    }
    const next = [...way, { key, service }]
    if (way.some((passed) => passed.key === key && passed.service.id === service.id))
      this.#refuse(next, 'is circular')
    const known = this.#resolved.get(sealed)?.hops ?? 0
    if (way.length + known > MAX_HOPS) this.#refuse(way, `goes through more than ${MAX_HOPS} references`)
    const { text, hops } = this.#resolveOwn(sealed, next)
    return { text, hops: hops + 1 }
  }

  #target({ kind, name }: Reference, environment: Environment): Target | null {
    return remember(this.#targets, `${environment.id} ${kind} ${name}`, () =>
      findTarget(kind, environment, name),
    )
  }

  #environment({ environment_id }: ServiceRow): Environment {
    return remember(this.#environments, environment_id, () => loadEnvironment(environment_id))
  }

  #name(service: ServiceRow): string {
    return qualifiedName(service.name, this.#environment(service))
  }

  #refuse(way: Way, fault: string, missing: string | null = null): never {
    const passed = way.map(({ key, service }) => `${key} of ${this.#name(service)}`)
    if (!way.every(({ service }) => this.#sight.mayName(service)))
      throw new ReferenceFault(`${passed[0]}: what it refers to cannot be resolved`, way[0]!.key)
    throw new ReferenceFault(`${passed.join(' -> ')}: ${fault}`, way[0]!.key, missing)
  }
}

function refuse(fault: ReferenceFault): never {
  throw fault
}

/** The environment of a service as its programs get it. Throws `conflict` with what is missing. */
export function resolveEnvironment(service: ServiceRow): Map<string, string> {
  try {
    return new Reading().resolve(service)
  } catch (cause) {
    if (!(cause instanceof ReferenceFault)) throw cause
    throw new AppError('conflict', `the variables cannot be resolved: ${cause.message}`, { cause })
  }
}

/** The fields of a request that faults are reported for. */
export interface Fields {
  /**
   * The field for the service's own variables; absent when the request leaves them as they are, so that they may be as
   * invalid as before.
   */
  own?: string
  /** The field for its groups' variables. */
  groups: string
}

/** The services written by a change of many services, by id; null when there is no such change. */
let held: Map<string, Fields> | null = null

/**
 * Call it in the transaction that wrote variables or links of a service: stores the port that they name and checks that they
 * resolve. Throws `invalid_request`.
 */
export function settleEnvironment(
  serviceId: string,
  fields: Fields,
  reading = new Reading(callersReferenceSight()),
): void {
  if (held) {
    held.set(serviceId, { ...held.get(serviceId), ...fields })
    return
  }
  const service = getService(serviceId)!
  settlePort(service, reading)
  const [fault] = faultsOf(service, fields, reading)
  if (fault) throw fault
}

/**
 * Runs a change that writes the variables of many services. Each of them is checked once, at the end, so that they may refer
 * to one another in any order. `onFault` is called for each variable that does not resolve.
 */
export function settlingAtEnd<T>(work: () => T, onFault: (service: ServiceRow, error: AppError) => void): T {
  const written = (held = new Map<string, Fields>())
  let result: T
  try {
    result = work()
  } finally {
    held = null
  }
  const services = [...written.keys()].map((id) => getService(id)!)
  const ports = new Reading()
  const changed = services.filter((service) => settlePort(service, ports))
  // A reference to a port must see the one just stored.
  const reading = changed.length > 0 ? new Reading() : ports
  let reported = 0
  for (const service of services) {
    if (reported >= MAX_REPORTED_FAULTS) break
    const faults = faultsOf(service, written.get(service.id)!, reading)
    for (const fault of faults) onFault(service, fault)
    reported += faults.length
  }
  return result
}

/** Why a service's variables do not resolve, reported for the fields of the request. */
function faultsOf(service: ServiceRow, fields: Fields, reading: Reading): AppError[] {
  const { own = fields.groups, groups } = fields
  const faults: AppError[] = []
  reading.resolve(service, (cause) => {
    const isOwn = cause.key !== '' && reading.isOwn(service, cause.key)
    if (isOwn && fields.own === undefined) return
    const field = isOwn || cause.key === '' ? own : groups
    const hint = cause.key === '' ? '' : `; ${ESCAPE_HINT}`
    faults.push(new AppError('invalid_request', `${field}: ${cause.message}${hint}`, { cause }))
  })
  const fault = fields.own === undefined ? null : portFault(service, reading)
  if (fault !== null) faults.push(new AppError('invalid_request', `${own}: ${fault}`))
  return faults
}

/** Reports an own PORT variable that is not a port: otherwise another port would be used without notice. */
function portFault(service: ServiceRow, reading: Reading): string | null {
  const text = reading.isOwn(service, 'PORT') ? reading.written(service, 'PORT') : undefined
  if (!text || service.port !== null || !TYPES[service.type].listens) return null
  if (portOf(text) !== null || text.includes(OPENING)) return null
  return `PORT is ${JSON.stringify(text)}: it must be a number from 1 to 65535, or a reference`
}

/** Stores the port, for changes that only remove variables and so are never refused. Returns whether the port changed. */
export function settlePort(service: ServiceRow, reading = new Reading()): boolean {
  const port = portOf(reading.written(service, 'PORT'))
  if (port === service.variable_port) return false
  keepVariablePort(service.id, port)
  return true
}

function remember<K, V>(known: Map<K, V>, key: K, make: () => V): V {
  const found = known.get(key)
  if (found !== undefined) return found
  const made = make()
  known.set(key, made)
  return made
}
