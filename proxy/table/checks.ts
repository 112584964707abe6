import { isIP } from 'node:net'
import { ChannelError } from '../control/channel.ts'

/** What is wrong with a table, and where. */
class Fault extends ChannelError {
  readonly path: string
  readonly text: string

  constructor(path: string, text: string) {
    super('invalid_table', `${path}: ${text}`)
    this.path = path
    this.text = text
  }
}

/** Throws `ChannelError` `invalid_table`. */
export function fail(path: string, fault: string): never {
  throw new Fault(path, fault)
}

/** Checks every entry that is not null. The path of a fault is built only if there is one: tables are large. */
export function each(
  section: string,
  entries: [string, unknown][],
  check: (name: string, value: unknown) => void,
): void {
  for (const entry of entries) {
    if (entry[1] === null) continue
    try {
      check(entry[0], entry[1])
    } catch (error) {
      throw error instanceof Fault ? new Fault(`${section}.${entry[0]}${error.path}`, error.text) : error
    }
  }
}

/** Returns the value, which must be an object. */
export function record(value: unknown, path: string): Record<string, unknown> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) fail(path, 'must be an object')
  return value as Record<string, unknown>
}

/** Returns the value, which must be an array of at most `max`. */
export function list(value: unknown, path: string, max: number): unknown[] {
  if (!Array.isArray(value) || value.length > max) fail(path, `must be an array of at most ${max}`)
  return value as unknown[]
}

/** Throws unless the value is an integer within these bounds. */
export function integer(value: unknown, path: string, min: number, max: number): void {
  if (!isInteger(value, min, max)) fail(path, `must be an integer from ${min} to ${max}`)
}

/** Whether the value is an integer within these bounds. */
export function isInteger(value: unknown, min: number, max: number): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}

/** Whether it is a CIDR or an address. */
export function isNetwork(network: string): boolean {
  const [address, prefix, ...rest] = network.split('/')
  const family = isIP(address ?? '')
  if (family === 0 || rest.length > 0) return false
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) <= (family === 6 ? 128 : 32))
}
