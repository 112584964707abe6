import { callersReach } from '../access/caller.ts'
import { getDeploy } from '../deploys/store.ts'
import { findEnvironment, hasEnvironment } from '../environments/store.ts'
import { AppError } from '../errors.ts'
import { findService } from '../services/operations.ts'
import { getService, listServices } from '../services/store.ts'
import type { SharedFilter } from './search-parts.ts'
import { deployOfInstance, instanceDeploys } from './instances.ts'
import type { Labelled } from './labels.ts'
import type { LogsQuery } from './schema.ts'

type Wanted = Pick<LogsQuery, 'environment' | 'service' | 'instance' | 'deploy'>
type Filters = Pick<LogsQuery, 'since' | 'until' | 'stream' | 'level' | 'search'>

/** Which logs a request is about. */
export interface Selection {
  /** The services whose logs they are, as they are now: those that the request named, or all of an environment. */
  services(): Labelled[]
  /** Which of a service's instances so far are wanted; null for all, and an empty list if none is. */
  instancesOf(service: Labelled): string[] | null
  /** Whether the lines of an instance are wanted, also of one that began later; undefined stands for lines without one. */
  wants(instance: string | undefined, deployOf: DeployOf): boolean
  /** Whether it will never have further lines: what the request named is deleted. */
  isGone(): boolean
}

/** Finds the deploy of an instance. */
export type DeployOf = (instance: string) => string | undefined

/** What lines of all logs have in common. */
export function sharedFilter({ since, until, stream, level, search }: Filters): SharedFilter {
  return {
    since: since ?? null,
    until: until ?? null,
    stream: stream ?? null,
    levels: level ?? null,
    search: search ?? null,
  }
}

/**
 * Finds what the caller of the current request asks for. The result heeds what that caller may reach, also when it is asked
 * after the request was answered. Throws `not_found`.
 */
export function selectLogs({ environment, service, instance, deploy }: Wanted): Selection {
  // A service may be named by its name and by its id.
  const named = service && [...new Set(service.map((name) => findNamed(name, environment).id))]
  const place = named ? null : findEnvironment(environment)
  const reach = callersReach()
  const hasDeploy = ownerTest(deploy)
  const services = (): Labelled[] => {
    const all = named ? named.flatMap((id) => getService(id) ?? []) : listServices(place!.id)
    return all
      .filter(({ id }) => hasDeploy(id) && (reach === null || reach.service(id)))
      .map(({ id, name }) => ({ id, name }))
  }
  if (deploy !== undefined && services().length === 0)
    throw new AppError('not_found', `there is no deploy ${deploy} of these services`)
  const wants = (id: string | undefined, deployOf: DeployOf): boolean => {
    if (instance === undefined && deploy === undefined) return true
    return id !== undefined && isNamed(id, instance) && (deploy === undefined || deployOf(id) === deploy)
  }
  return {
    services,
    wants,
    instancesOf({ id }) {
      if (instance === undefined && deploy === undefined) return null
      const deploys = instanceDeploys(id)
      return [...deploys.keys()].filter((each) => wants(each, (name) => deploys.get(name)))
    },
    isGone: () => services().length === 0 && (place === null || !hasEnvironment(place.id)),
  }
}

/** A service by its id, its name in an environment, or its name with that of its environment: `api.staging`. */
function findNamed(given: string, environment: string | undefined) {
  const dot = given.indexOf('.')
  if (dot === -1) return findService(given, environment)
  return findService(given.slice(0, dot), given.slice(dot + 1))
}

/** Returns a test for whether a service has a deploy. One that is forgotten may still have lines. */
function ownerTest(deploy: string | undefined): (serviceId: string) => boolean {
  if (deploy === undefined) return () => true
  const owner = getDeploy(deploy)?.service_id
  if (owner !== undefined) return (id) => id === owner
  return (id) => [...instanceDeploys(id).values()].includes(deploy)
}

/** Whether an instance is meant by a name. The dashboard shows only the end of an instance's name. */
function isNamed(id: string, name: string | undefined): boolean {
  return name === undefined || id === name || id.endsWith(`-${name}`)
}

/** Looks up the deploys of instances, each once. */
export function deployLookup(): DeployOf {
  const known = new Map<string, string | undefined>()
  return (instance) => {
    if (!known.has(instance)) known.set(instance, deployOfInstance(instance))
    return known.get(instance)
  }
}
