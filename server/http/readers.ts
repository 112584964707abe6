import { getQuery, getRouterParams, type H3Event } from 'h3'
import { z } from 'zod'
import { tellable } from '../audit/changes.ts'

/** A contract that reads, as `defineEndpoint` makes it. */
interface GetEndpoint {
  spec: { params?: unknown; response?: unknown; refusesHead?: true }
  read(event: H3Event, params: Record<string, string>, query: Record<string, unknown>): unknown
}

/** Contracts of GET requests by their path, each loaded when it is asked for. */
type GetEndpoints = Record<string, () => Promise<GetEndpoint>>

let endpoints: () => Promise<GetEndpoints> = () => Promise.resolve({})

/** Publishes the contracts by which changes are read. The entry calls it once. */
export function provideReaders(load: () => Promise<GetEndpoints>): void {
  endpoints = load
}

/** Reads a record, or one of a list. */
export interface Reader {
  endpoint: GetEndpoint
  /** The parameter that names one member of the list that is read; null if one record is read. */
  member: string | null
}

/** What an operation may change, and what the changes of a part of it begin with, such as `env`. */
export interface State {
  reader: Reader | null
  name: string
}

const items = new Map<string, Promise<Item>>()
const states = new Map<string, Promise<State>>()

/** What an operation on a path is about: the last thing in it that can be read. */
export interface Item {
  reader: Reader | null
  /** Parameters of the path that name something else, which nothing reads. */
  unread: string[]
}

/** What an operation on a path is about; nothing on a collection or the server. Found once. */
export function itemReader(path: string): Promise<Item> {
  return once(items, path, async () => {
    const parts = path.split('/')
    const unread: string[] = []
    for (let at = lastParameter(parts); at >= 0; at = lastParameter(parts.slice(0, at))) {
      const name = parts[at]!.slice(1)
      const reader =
        (await load(parts.slice(0, at + 1).join('/'), null)) ??
        (await load(parts.slice(0, at).join('/'), name))
      if (reader && hasId(reader)) return { reader, unread }
      unread.unshift(name)
    }
    return { reader: null, unread }
  })
}

/** Reads what an update of a path may change: what is at the path itself, or above it. Found once. */
export function stateReader(path: string): Promise<State> {
  return once(states, path, async () => {
    const parts = path.split('/')
    const last = lastParameter(parts)
    const own = await load(path, null)
    const isPart = own !== null && last >= 0 && last < parts.length - 1
    return { reader: own ?? (await itemReader(path)).reader, name: isPart ? parts.at(-1)! : '' }
  })
}

/** Whether what is read has an id of its own. What has none, such as a secret file, is a part of what it belongs to. */
function hasId({ endpoint, member }: Reader): boolean {
  const { response } = endpoint.spec
  const one = member !== null && response instanceof z.ZodArray ? response.element : response
  return !(one instanceof z.ZodString) && !(one instanceof z.ZodObject && !('id' in one.shape))
}

function lastParameter(parts: readonly string[]): number {
  return parts.findLastIndex((part) => part.startsWith(':'))
}

async function load(path: string, member: string | null): Promise<Reader | null> {
  const endpoint = await (await endpoints())[path]?.()
  // Some write their answer themselves, and a GET that refuses HEAD changes something.
  const onlyReads = endpoint?.spec.response instanceof z.ZodType && !endpoint.spec.refusesHead
  return onlyReads ? { endpoint, member } : null
}

function once<T>(known: Map<string, Promise<T>>, path: string, find: () => Promise<T>): Promise<T> {
  let found = known.get(path)
  if (!found) known.set(path, (found = find()))
  return found
}

/** What may be told of what a reader answers; null if it fails, as for something that does not exist (any more). */
export function valueOf({ endpoint, member }: Reader, event: H3Event): unknown {
  const params = getRouterParams(event, { decode: true })
  try {
    const names = Object.keys((endpoint.spec.params as { shape?: object } | undefined)?.shape ?? {})
    const own = Object.fromEntries(
      names.filter((name) => name in params).map((name) => [name, params[name]!]),
    )
    const value = endpoint.read(event, own, getQuery(event))
    // A transaction cannot wait for it.
    if (value instanceof Promise) return void value.catch(() => {})
    const told = tellable(endpoint.spec.response, value)
    if (member === null) return told
    const wanted = params[member]
    return (told as Record<string, unknown>[]).find((each) =>
      [each.id, each.name, each.domain].includes(wanted),
    )
  } catch {
    return null
  }
}
