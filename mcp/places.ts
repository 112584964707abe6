import { z } from 'zod'
import { didYouMean } from '../cli/suggest.ts'
import { ask, type Call, segment } from './call.ts'

/** What a list takes for all environments. */
export const ALL = 'all'
const PRODUCTION = 'production'

const EnvironmentName = z.string().min(1).optional()

/** The fields of tools for one service. */
export const OF_SERVICE = {
  service: z.string().min(1).describe('Name or id'),
  environment: EnvironmentName,
}

/** The field of tools for what is in one environment. */
export const IN_ENVIRONMENT = { environment: EnvironmentName }

export const IN_ENVIRONMENT_OR_ALL = {
  environment: EnvironmentName.describe('"all" for every one'),
}

/** A service or a datastore in the API's own words. A name may carry its environment: `api.staging`. */
export function placeOf(
  kind: 'services' | 'datastores',
  given: string,
  environment: string | undefined,
): { path: string; query: { environment: string | undefined } } {
  const { name, within } = splitName(given, environment)
  return { path: `/${kind}/${segment(name)}`, query: { environment: within } }
}

/** A name and its environment, which may be part of it. */
export function splitName(
  given: string,
  environment: string | undefined,
): { name: string; within: string | undefined } {
  const [name = '', within] = given.split('.')
  return environment === undefined && within ? { name, within } : { name: given, within: environment }
}

const Names = z.array(z.object({ id: z.string(), name: z.string() }))

/** All services or datastores of an environment, or of all of them, each list as the API sorts it. */
export async function listed<S extends z.ZodType>(
  call: Call,
  kind: 'services' | 'datastores',
  item: S,
  environment: string = PRODUCTION,
): Promise<z.output<S>[]> {
  const names = environment === ALL ? await environmentNames(call) : [environment]
  const lists = names.map((name) =>
    ask(call, z.array(item), 'GET', `/${kind}`, { query: { environment: name } }),
  )
  return (await Promise.all(lists)).flat()
}

async function environmentNames(call: Call): Promise<string[]> {
  return (await ask(call, Names, 'GET', '/environments')).map(({ name }) => name)
}

/** What a request named; one of these may not exist. */
export interface Named {
  service?: string | undefined
  datastore?: string | undefined
  group?: string | undefined
  environment?: string | undefined
}

const Placed = z.object({ id: z.string(), name: z.string(), environment: z.string() })

/** Which name was probably meant, worded to follow the API's refusal; empty when none is near. */
export async function meant(named: Named, call: Call): Promise<string> {
  const { environment, group } = named
  if (environment !== undefined && environment !== ALL) {
    const names = namesOf(await ask(call, Names, 'GET', '/environments'))
    if (!names.known.has(environment)) return didYouMean(environment, names.shown)
  }
  if (group !== undefined) {
    const names = namesOf(await ask(call, Names, 'GET', '/env-groups'))
    return names.known.has(group) ? '' : didYouMean(group, names.shown)
  }
  const kind = named.service === undefined ? 'datastores' : 'services'
  const given = named.service ?? named.datastore
  if (given === undefined) return ''
  const { name, within = PRODUCTION } = splitName(given, environment)
  const placed = await listed(call, kind, Placed, ALL)
  const elsewhere = placed.filter((each) => each.name === name).map((each) => each.environment)
  if (elsewhere.length > 0) return `; ${name} is in ${elsewhere.join(', ')}`
  const here = placed.filter((each) => each.environment === within).map((each) => each.name)
  return didYouMean(name, here)
}

function namesOf(items: z.output<typeof Names>): { known: Set<string>; shown: string[] } {
  const shown = items.map(({ name }) => name)
  return { known: new Set([...shown, ...items.map(({ id }) => id)]), shown }
}
