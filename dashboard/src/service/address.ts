import type { Service } from '../api/types.ts'

/** Always exists; a name without an environment refers to it. */
export const PRODUCTION = 'production'

/** The server's ids; no name looks like one. */
const ID = /^srv-[0-9a-f]{20}$/

/** A service or a datastore as a path names it: by its id, or by its name and environment. */
export type Ref = { id: string } | Placed
export type ServiceRef = Ref

interface Placed {
  name: string
  environment: string
}

/**
 * A name of a service or a datastore that is unique across environments: `api` in production, otherwise `api.staging`.
 */
export function qualifiedName({ name, environment }: Placed): string {
  return environment === PRODUCTION ? name : `${name}.${environment}`
}

/** The path of a service, or of one of its sections, in the dashboard. */
export function servicePath(service: Pick<Service, 'name' | 'environment'>, section = ''): string {
  return `/services/${qualifiedName(service)}${section === '' ? '' : `/${section}`}`
}

/** Parses what `qualifiedName` returns, or the id of a service. */
export function serviceRef(text: string): ServiceRef {
  return refOf(text, ID)
}

/** The same for resources with ids of this form. */
export function refOf(text: string, id: RegExp): Ref {
  if (id.test(text)) return { id: text }
  const dot = text.indexOf('.')
  return dot < 0
    ? { name: text, environment: PRODUCTION }
    : { name: text.slice(0, dot), environment: text.slice(dot + 1) }
}
