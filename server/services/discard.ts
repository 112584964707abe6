import { callersReach } from '../access/caller.ts'
import { announceService, announcingAtEnd } from '../changes.ts'
import { useDatabase } from '../context.ts'
import type { Comparison, DiscardInput, Discarded } from '../deploys/comparison-schema.ts'
import { unliveOf, viewGroups } from '../deploys/comparison.ts'
import { fileText, groupText, linesOf, settingText, variableText } from '../deploys/difference-lines.ts'
import { differencesBetween, type Differences } from '../deploys/differences.ts'
import { currentSetup, openSetupSecrets, readSetup, type Setup, type SetupSecrets } from '../deploys/setup.ts'
import { groupIdsOf, listEnvGroups } from '../env-groups/store.ts'
import { AppError } from '../errors.ts'
import { settleFiles } from '../secret-files/effective.ts'
import { insertSecretFiles } from '../secret-files/operations.ts'
import { deleteSecretFileRow } from '../secret-files/store.ts'
import { recordServiceEvent, listedNames } from '../service-events/store.ts'
import { readVariables } from '../variables/store.ts'
import type { ServicePatch } from './input.ts'
import { assertNotDeleting, patchService } from './operations.ts'
import { getService, updateService, type ServiceRow } from './store.ts'

/** What the live deploy has, by which changes are put back. */
interface Former {
  setup: Setup
  secrets: SetupSecrets
}

/**
 * Puts settings, own variables, links to env groups and own secret files back to what the live deploy has, all at once:
 * those that `choice` names, or all of them. What cannot be put back stays, and is in the answer. Throws `conflict` if nothing
 * is live, and what `patchService` throws if something else has changed so that the former state would break a rule.
 */
export function discardChanges(service: ServiceRow, choice: DiscardInput): Discarded {
  assertNotDeleting(service)
  const { live, differences } = unliveOf(service)
  if (!live)
    throw new AppError(
      'conflict',
      `nothing of service ${service.name} is live: there is nothing to go back to`,
    )
  const before = currentSetup(service)
  putBack(service, { setup: readSetup(live), secrets: openSetupSecrets(live) }, chosen(differences, choice))
  const current = getService(service.id)!
  return {
    discarded: linesOf(differencesBetween(before, currentSetup(current), service.id)),
    kept: keptOf(chosen(unliveOf(current).differences, choice)),
  }
}

/** The differences that a request names; all if it names none. */
function chosen(differences: Differences, choice: DiscardInput): Differences {
  if (Object.values(choice).every((names) => names === undefined)) return differences
  const { settings = [], variables = [], secret_files = [], groups = [] } = choice
  return {
    settings: differences.settings.filter(({ field }) => settings.includes(field)),
    variables: differences.variables.filter(({ key }) => variables.includes(key)),
    secret_files: differences.secret_files.filter(({ name }) => secret_files.includes(name)),
    groups: differences.groups.filter(({ name }) => groups.includes(name)),
    unknown: [],
  }
}

function putBack(service: ServiceRow, former: Former, wanted: Differences): void {
  const patch: ServicePatch = {
    ...formerSettings(wanted, former),
    ...formerVariables(service, wanted, former),
    ...formerLinks(service, wanted, former),
  }
  const files = former.secrets.files && wanted.secret_files.map(({ name }) => name)
  if (Object.keys(patch).length === 0 && !files?.length) return
  announcingAtEnd(() =>
    useDatabase().transaction(() => {
      // All files come before what is checked together with them.
      for (const name of files ?? []) putFileBack(service, name, former)
      patchService(service, patch)
      if (!files?.length) return
      recordServiceEvent(service.id, 'secret_files.updated', { details: listedNames(files) })
      updateService(service.id, {})
      settleFiles(service.id, 'secret_files')
      announceService(service.id)
    }),
  )
}

function formerSettings({ settings }: Differences, { secrets }: Former): ServicePatch {
  const known = settings.filter(({ field }) => field !== 'repo_url' || secrets.repo_url !== undefined)
  return Object.fromEntries(
    known.map(({ field, old }) => [field, field === 'repo_url' ? secrets.repo_url : old]),
  ) as ServicePatch
}

function formerVariables({ id }: ServiceRow, { variables }: Differences, { secrets }: Former): ServicePatch {
  const keys = new Set(variables.filter((each) => !each.by_reference).map(({ key }) => key))
  if (keys.size === 0 || !secrets.variables) return {}
  const [former, current] = [secrets.variables, readVariables(id)].map(
    (list) => new Map(list.map((variable) => [variable.key, variable])),
  )
  const env = [...new Set([...former!.keys(), ...current!.keys()])].map((key) =>
    (keys.has(key) ? former! : current!).get(key),
  )
  return { env: env.filter((variable) => variable !== undefined) }
}

/** The links in the order of the live deploy. A group that is gone is left out, as one that the caller does not reach. */
function formerLinks({ id }: ServiceRow, { groups }: Differences, { setup }: Former): ServicePatch {
  if (groups.length === 0 || !setup.groups) return {}
  const reach = callersReach()
  const is = (change: string) =>
    new Set(groups.filter((each) => each.change === change).map((each) => each.id))
  const [added, removed] = [is('linked'), is('unlinked')]
  const present = new Set(listEnvGroups().map((group) => group.id))
  const current = groupIdsOf(id)
  const former = setup.groups
    .map((group) => group.id)
    .filter((group) => current.includes(group) || (removed.has(group) && present.has(group)))
    .filter((group) => current.includes(group) || !reach || reach.envGroup(group))
  const env_groups = [...former, ...current.filter((group) => !former.includes(group) && !added.has(group))]
  return env_groups.join() === current.join() ? {} : { env_groups }
}

function putFileBack(service: ServiceRow, name: string, { secrets }: Former): void {
  const file = secrets.files!.find((each) => each.name === name)
  if (!file) return deleteSecretFileRow(service.id, name)
  insertSecretFiles(service, [{ ...file, content: Buffer.from(file.content, 'base64') }])
}

/** What is still not live, and why. */
function keptOf({ settings, variables, secret_files, groups }: Differences): Discarded['kept'] {
  const unrecorded = 'the live deploy has no record of its former value'
  return [
    ...settings.map((each) => ({ change: settingText(each), reason: unrecorded })),
    ...variables.map((each) => ({
      change: variableText(each),
      reason: each.by_reference ? 'what it refers to has changed, and not the variable' : unrecorded,
    })),
    ...secret_files.map((each) => ({
      change: fileText(each),
      reason: 'the live deploy has no record of its former content',
    })),
    ...viewGroups(groups).map((each) => ({ change: groupText(each), reason: reasonOf(each) })),
  ]
}

function reasonOf({ name, change }: Comparison['groups'][number]): string {
  if (change !== 'unlinked') return 'other services may share the env group: change it there'
  return name === null
    ? 'this token does not reach the env group, or it was deleted'
    : 'the env group was deleted'
}
