import { basename } from 'node:path'
import type { Service } from '#server/services/schema.ts'
import type { Call } from '../../call.ts'
import { EXIT, Fault, wrong } from '../../fault.ts'
import { didYouMean } from '../../suggest.ts'
import { ApiFault, type Api } from '../api.ts'
import { ask } from '../ask.ts'
import { findLink } from '../link.ts'
import { environmentOf, pathTo, targetOf, type Target } from '../target.ts'

const MAX_NAME_CHARACTERS = 63

/**
 * The service that a folder is deployed to: the one that is named, else the answer to a question on a terminal. With
 * `--create` a missing one is made with these settings, named after the folder where no name is given. Throws Fault.
 */
export async function serviceToDeploy(
  call: Call,
  api: Api,
  folder: string,
  settings: object = {},
): Promise<Service> {
  const named = targetNamed(call, api)
  if (named !== null) return findOrCreate(call, api, named, settings)
  const environment = environmentOf(call, api)
  if (call.has('create')) return findOrCreate(call, api, { name: nameFor(folder), environment }, settings)
  const name = usualName(folder)
  const advice =
    'name the service with --service, link this folder with deployer init, or make one with --create'
  if (!call.mayAsk) throw wrong(advice)
  const services = await api.get<Service[]>('/services', { environment })
  const names = services.map((service) => service.name)
  const fresh = name === null || names.includes(name) ? [] : [`${name} (new)`]
  const answer = await ask(`Which service? ${[...names, ...fresh].join(', ')}:`)
  const chosen = services.find((service) => service.name === answer || service.id === answer)
  if (chosen) return chosen
  if (fresh.length > 0 && answer === name) return create(api, { name: answer, environment }, settings)
  throw new Fault(EXIT.notFound, `there is no service ${answer}${didYouMean(answer, names) || `; ${advice}`}`)
}

/** The service that is named; null if none is, or if it is missing and would be made. */
export async function serviceNamed(call: Call, api: Api): Promise<Service | null> {
  const target = targetNamed(call, api)
  return target === null ? null : find(call, api, target)
}

function targetNamed(call: Call, api: Api): Target | null {
  const given = call.text('service') ?? (process.env.DEPLOYER_SERVICE || null) ?? findLink()?.service ?? null
  return given === null ? null : targetOf(call, api, given)
}

/** The service of this name, created if it is missing and `--create` is given. Throws Fault. */
export async function findOrCreate(
  call: Call,
  api: Api,
  target: Target,
  settings: object = {},
): Promise<Service> {
  return (await find(call, api, target)) ?? create(api, target, settings)
}

/** The service; null if it is missing and `--create` is given. */
async function find(call: Call, api: Api, target: Target): Promise<Service | null> {
  try {
    return await api.get<Service>(pathTo('services', target), { environment: target.environment })
  } catch (error) {
    if (call.has('create') && error instanceof ApiFault && error.status === 404) return null
    throw error
  }
}

function create(api: Api, { name, environment }: Target, settings: object): Promise<Service> {
  const place = environment === null ? {} : { environment }
  return api.send<Service>('POST', '/services', { name, ...place, ...settings })
}

/** What a service that is made for a folder is called. Throws Fault for a folder without a name. */
export function nameFor(folder: string): string {
  const name = usualName(folder)
  if (name === null) throw wrong(`${folder} has no name for a service; name one with --service`)
  return name
}

/** A folder's name as one of a service, which is a DNS label; null if nothing is left of it. */
function usualName(folder: string): string | null {
  const name = basename(folder)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replace(/^[^a-z]+/, '')
    .slice(0, MAX_NAME_CHARACTERS)
    .replace(/-$/, '')
  return name === '' ? null : name
}
