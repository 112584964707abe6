import type { Call } from '../call.ts'
import { wrong } from '../fault.ts'
import { TOKEN_PREFIX } from '../suggest.ts'
import { ApiFault, type Api } from './api.ts'
import { ask } from './ask.ts'
import { findLink } from './link.ts'

/** Where names are looked up by default. */
export const DEFAULT_ENVIRONMENT = 'production'
/** The word for every environment, in commands that list. */
const ALL = 'all'

/** What a command is about: a name or id, and the environment in which a name is looked up; null for the server's default. */
export interface Target {
  name: string
  environment: string | null
}

/** The environment of a command: its flag, the variable, the link, what is saved with the host; null for the default. */
export function environmentOf(call: Call, api: Api): string | null {
  return (
    call.text('environment') ??
    (process.env.DEPLOYER_ENVIRONMENT || null) ??
    findLink()?.environment ??
    api.server.environment
  )
}

/**
 * The service of a command: the word, `--service`, `DEPLOYER_SERVICE`, the link of the folder, or the answer to a question on
 * a terminal. Throws Fault if there is none.
 */
export async function serviceOf(
  call: Call,
  api: Api,
  word: string | null = call.words[0] ?? null,
): Promise<Target> {
  const flag = call.text('service')
  if (word !== null && flag !== null) throw wrong('name the service as a word or with --service, not both')
  const given = word ?? flag ?? (process.env.DEPLOYER_SERVICE || null) ?? findLink()?.service ?? null
  if (given !== null) return targetOf(call, api, given)
  const environment = environmentOf(call, api)
  const advice = 'name the service (a word, --service, or deployer init in this folder)'
  if (!call.mayAsk) throw wrong(advice)
  const services = await api.get<{ name: string }[]>('/services', { environment })
  const name = await ask(`Which service? ${services.map((service) => service.name).join(', ')}`)
  return targetOf(call, api, name)
}

/** A name that may bring its environment: `web.staging`. */
export function targetOf(call: Call, api: Api, given: string): Target {
  const dot = given.indexOf('.')
  if (dot < 0) return { name: given, environment: environmentOf(call, api) }
  const [name, environment] = [given.slice(0, dot), given.slice(dot + 1)]
  const flag = call.text('environment')
  if (flag !== null && flag !== environment)
    throw wrong(`${given} is in the environment ${environment}, --environment is ${flag}; leave one out`)
  return { name, environment }
}

/** A name that is unique across environments, as the API has it: `api` in production, otherwise `api.staging`. */
export function qualifiedName({ name, environment }: Target): string {
  return environment === null || environment === DEFAULT_ENVIRONMENT ? name : `${name}.${environment}`
}

/**
 * The services or datastores of the command's environment; with `-e all`, those of all. In the latter case a bare name does
 * not say which one is meant.
 */
export async function listOf<T>(
  call: Call,
  api: Api,
  collection: 'services' | 'datastores',
): Promise<{ rows: T[]; isOfAll: boolean }> {
  const environment = environmentOf(call, api)
  if (environment !== ALL) return { rows: await api.get(`/${collection}`, { environment }), isOfAll: false }
  const environments = await api.get<{ name: string }[]>('/environments')
  const lists = await Promise.all(
    environments.map(({ name }) => api.get<T[]>(`/${collection}`, { environment: name }).catch(noneIfGone)),
  )
  return { rows: lists.flat(), isOfAll: true }
}

/** An environment may be deleted between two requests. */
function noneIfGone(error: unknown): never[] {
  if (error instanceof ApiFault && error.status === 404) return []
  throw error
}

/** The path of something with a name or id, below a collection such as `services`. Throws Fault for what is no name. */
export function pathTo(collection: string, { name }: Pick<Target, 'name'>, rest = ''): string {
  return `/${collection}/${segment(name)}${rest}`
}

/** A word as one segment of a path. Throws Fault for one that a URL takes for its own structure. */
export function segment(word: string): string {
  if (['', '.', '..'].includes(word)) throw wrong('a name is missing, or is only dots')
  // A path ends up in the logs of servers.
  if (word.includes(TOKEN_PREFIX)) throw wrong('a token stands in the place of a name')
  return encodeURIComponent(word)
}
