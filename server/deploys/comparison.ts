import { callersReach } from '../access/caller.ts'
import { AppError } from '../errors.ts'
import type { ServiceRow } from '../services/store.ts'
import type { Comparison } from './comparison-schema.ts'
import { countOf, differencesBetween, type Differences } from './differences.ts'
import { findDeploy } from './operations.ts'
import { currentSetup, openSetup, readSetup } from './setup.ts'
import { formerLive, getDeploy, type DeployRow } from './store.ts'
import { viewDeploy } from './view.ts'

/** What is saved of a service and not live. */
export interface Unlive {
  live: DeployRow | undefined
  differences: Differences
}

const NOTHING: Differences = { settings: [], variables: [], secret_files: [], groups: [], unknown: [] }

/** What is saved of a service and not live; nothing if nothing is live. */
export function unliveOf(service: ServiceRow): Unlive {
  const live = service.live_deploy_id === null ? undefined : getDeploy(service.live_deploy_id)
  const saved = currentSetup(service)
  const differences = live ? differencesBetween(openSetup(live, saved), saved, service.id) : NOTHING
  return { live, differences }
}

/** The same as the API returns it. */
export function viewUnlive(service: ServiceRow): Comparison {
  const { live, differences } = unliveOf(service)
  return view(live, undefined, differences)
}

/**
 * Compares a deploy with an earlier one, or any other of its service: by default the one that was live before it. Throws
 * `not_found` for a deploy of another service.
 */
export function compareDeploys(deploy: DeployRow, withId: string | undefined): Comparison {
  const other = withId === undefined ? formerLive(deploy) : findDeploy(withId)
  if (!other) return view(undefined, deploy, NOTHING)
  if (other.service_id !== deploy.service_id)
    throw new AppError('not_found', `with: ${other.id} is not a deploy of the service of ${deploy.id}`)
  const [from, to] = [openSetup(other, readSetup(deploy)), openSetup(deploy, readSetup(other))]
  return view(other, deploy, differencesBetween(from, to, deploy.service_id))
}

function view(from: DeployRow | undefined, to: DeployRow | undefined, differences: Differences): Comparison {
  const { groups, ...rest } = differences
  return {
    from: from ? viewDeploy(from) : null,
    to: to ? viewDeploy(to) : null,
    count: countOf(differences),
    ...rest,
    groups: viewGroups(groups),
  }
}

/** Differences of env groups as the caller sees them: without the names of groups that they do not reach. */
export function viewGroups(groups: Differences['groups']): Comparison['groups'] {
  const reach = callersReach()
  return groups.map(({ id, name, ...inside }) => ({
    name: reach && !reach.envGroup(id) ? null : name,
    ...inside,
  }))
}
