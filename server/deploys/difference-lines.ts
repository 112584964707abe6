import type { FileDifference, VariableDifference } from './differences.ts'

/** At most so many characters of a value are in a line. */
const MAX_CHARACTERS = 200

/** Differences as the API and the server itself have them. */
interface Told {
  settings: readonly { field: string; old: unknown; new: unknown }[]
  variables: readonly VariableDifference[]
  secret_files: readonly FileDifference[]
  groups: readonly {
    name: string | null
    change: string
    variables: readonly VariableDifference[]
    secret_files: readonly FileDifference[]
  }[]
}

/** Differences in lines: `port: 3000 -> 8080`, `env.KEY: changed`. What differs inside of a group is a line of its own. */
export function linesOf({ settings, variables, secret_files, groups }: Told): string[] {
  return [
    ...settings.map(settingText),
    ...variables.map(variableText),
    ...secret_files.map(fileText),
    ...groups.flatMap((group) => [
      groupText(group),
      ...[...group.variables.map(variableText), ...group.secret_files.map(fileText)].map(
        (text) => `${groupName(group)}.${text}`,
      ),
    ]),
  ]
}

export function settingText({ field, old, new: now }: Told['settings'][number]): string {
  const [before, after] = [valueText(old), valueText(now)]
  return before === after ? `${field}: changed` : `${field}: ${before} -> ${after}`
}

export function variableText({ key, change, by_reference }: VariableDifference): string {
  return `env.${key}: ${change}${by_reference ? ' (what it refers to)' : ''}`
}

export function fileText({ name, change, parts }: FileDifference): string {
  return `secret_files.${name}: ${change}${parts.length > 0 ? ` (${parts.join(', ')})` : ''}`
}

export function groupText(group: Pick<Told['groups'][number], 'name' | 'change'>): string {
  return `${groupName(group)}: ${group.change}`
}

function groupName({ name }: Pick<Told['groups'][number], 'name'>): string {
  return `env_groups.${name ?? '(another)'}`
}

function valueText(value: unknown): string {
  if (value === null || (Array.isArray(value) && value.length === 0)) return 'none'
  const isText = typeof value === 'string' && !/[\n\r\t]/.test(value)
  const text = isText ? value : JSON.stringify(value)
  return text.length > MAX_CHARACTERS ? `${text.slice(0, MAX_CHARACTERS)}...` : text
}
