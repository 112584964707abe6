import { FILE_PARTS, SETUP_FIELDS, type SetupField, type UNKNOWN_FIELDS } from './setup-fields.ts'
import type { Setup, SetupFile, SetupVariable, SettingValue } from './setup.ts'

export interface SettingDifference {
  field: SetupField
  old: SettingValue
  /** The same as `old` if only the credentials of a repository differ. */
  new: SettingValue
}

export interface VariableDifference {
  key: string
  change: 'added' | 'removed' | 'changed'
  /** Whether its text is the same, and something that it refers to has another value. */
  by_reference: boolean
}

export interface FileDifference {
  name: string
  change: 'added' | 'removed' | 'changed'
  /** What differs of a changed one. */
  parts: (typeof FILE_PARTS)[number][]
}

export interface GroupDifference {
  id: string
  name: string
  change: 'linked' | 'unlinked' | 'changed'
  /** Those of its variables that reach the service and differ. */
  variables: VariableDifference[]
  secret_files: FileDifference[]
}

/** What differs between two setups of a service. */
export interface Differences {
  settings: SettingDifference[]
  /** The service's own. */
  variables: VariableDifference[]
  /** The service's own. */
  secret_files: FileDifference[]
  groups: GroupDifference[]
  /** What cannot be compared, since one of the two does not have it recorded. */
  unknown: (typeof UNKNOWN_FIELDS)[number][]
}

/** Compares two setups of the service with this id. */
export function differencesBetween(from: Setup, to: Setup, serviceId: string): Differences {
  const variables = byHolder(
    pairs(from.variables, to.variables, ({ key }) => key),
    serviceId,
    variableDifference,
  )
  const files = byHolder(
    pairs(from.files, to.files, ({ name }) => name),
    serviceId,
    fileDifference,
  )
  return {
    settings: SETUP_FIELDS.filter((field) => isRecorded(from, to, field) && isOther(from, to, field)).map(
      (field) => ({ field, old: from.settings[field]!, new: to.settings[field]! }),
    ),
    variables: variables.get(serviceId) ?? [],
    secret_files: files.get(serviceId) ?? [],
    groups: groupDifferences(from, to, variables, files),
    unknown: [
      ...SETUP_FIELDS.filter((field) => !isRecorded(from, to, field)),
      ...(from.variables && to.variables ? [] : ['env' as const]),
      ...(from.groups && to.groups ? [] : ['env_groups' as const]),
      ...(from.files && to.files ? [] : ['secret_files' as const]),
    ],
  }
}

/** How many things differ; a group is one, whatever differs in it. */
export function countOf({ settings, variables, secret_files, groups }: Differences): number {
  return settings.length + variables.length + secret_files.length + groups.length
}

function isRecorded(from: Setup, to: Setup, field: SetupField): boolean {
  return from.settings[field] !== undefined && to.settings[field] !== undefined
}

function isOther(from: Setup, to: Setup, field: SetupField): boolean {
  if (JSON.stringify(from.settings[field]) !== JSON.stringify(to.settings[field])) return true
  if (field !== 'repo_url' || from.repository === undefined || to.repository === undefined) return false
  return from.repository !== to.repository
}

/** Something of one name in the two setups. */
interface Pair<T> {
  before: T | undefined
  after: T | undefined
}

/** Those of the second setup in their order, then those that only the first has. Nothing if one of the two is not known. */
function pairs<T>(from: T[] | undefined, to: T[] | undefined, nameOf: (one: T) => string): Pair<T>[] {
  if (!from || !to) return []
  const [old, now] = [from, to].map((list) => new Map(list.map((one) => [nameOf(one), one])))
  return [...new Set([...now!.keys(), ...old!.keys()])].map((name) => ({
    before: old!.get(name),
    after: now!.get(name),
  }))
}

/** The differences by whose they are: the service's if it has or had one itself, else those of the group that counts. */
function byHolder<T extends { holder: string }, D>(
  all: readonly Pair<T>[],
  serviceId: string,
  differenceOf: (pair: Pair<T>) => D | null,
): Map<string, D[]> {
  const found = new Map<string, D[]>()
  for (const { before, after } of all) {
    const [wasOwn, isOwn] = [before?.holder === serviceId, after?.holder === serviceId]
    // The service's own one covers that of a group.
    const pair =
      wasOwn === isOwn
        ? { before, after }
        : { before: wasOwn ? before : undefined, after: isOwn ? after : undefined }
    const difference = differenceOf(pair)
    const holder = (pair.after ?? pair.before)!.holder
    if (difference !== null) found.set(holder, [...(found.get(holder) ?? []), difference])
  }
  return found
}

function changeOf({ before, after }: Pair<unknown>): 'added' | 'removed' | 'changed' {
  if (!before) return 'added'
  return after ? 'changed' : 'removed'
}

function variableDifference({ before, after }: Pair<SetupVariable>): VariableDifference | null {
  const { key } = (after ?? before)!
  const change = changeOf({ before, after })
  if (!before || !after) return { key, change, by_reference: false }
  const isSameText = isSame(before.text, after.text)
  const isSameValue = isSame(before.value, after.value)
  if (isSameText === false) return { key, change, by_reference: false }
  return isSameValue === false ? { key, change, by_reference: isSameText === true } : null
}

/** Null if one of the two is not known. */
function isSame(one: string | null, other: string | null): boolean | null {
  return one === null || other === null ? null : one === other
}

function fileDifference({ before, after }: Pair<SetupFile>): FileDifference | null {
  const { name } = (after ?? before)!
  const change = changeOf({ before, after })
  if (!before || !after) return { name, change, parts: [] }
  const parts = FILE_PARTS.filter((part) =>
    part === 'content' ? before.fingerprint !== after.fingerprint : before[part] !== after[part],
  )
  return parts.length === 0 ? null : { name, change, parts }
}

/** In the order of the links; then groups that are no longer linked. */
function groupDifferences(
  from: Setup,
  to: Setup,
  variables: Map<string, VariableDifference[]>,
  files: Map<string, FileDifference[]>,
): GroupDifference[] {
  const [old, now] = [from.groups ?? [], to.groups ?? []]
  const names = new Map([...now, ...old].map(({ id, name }) => [id, name]))
  const has = (groups: Setup['groups'], id: string) =>
    groups === undefined || groups.some((group) => group.id === id)
  return [...names].flatMap(([id, name]): GroupDifference[] => {
    const [wasLinked, isLinked] = [has(from.groups, id), has(to.groups, id)]
    const inside = { variables: variables.get(id) ?? [], secret_files: files.get(id) ?? [] }
    if (wasLinked !== isLinked) return [{ id, name, change: isLinked ? 'linked' : 'unlinked', ...inside }]
    const isSame = inside.variables.length + inside.secret_files.length === 0
    return isSame ? [] : [{ id, name, change: 'changed', ...inside }]
  })
}
