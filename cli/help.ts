import { flagsOf, type Command, type Flag, type Group, type Word } from './command.ts'

const GROUPS: readonly Group[] = [
  'Deploy',
  'Services',
  'Variables',
  'Datastores',
  'Domains',
  'Server',
  'This computer',
  "The server's host",
]
const EXAMPLES = ['login https://dashboard.example.com', 'deploy . --service web', 'logs web -f']
const SUMMARY_COLUMN = 26

/** The text of `deployer help`: every command in one line. Commands of two words are gathered behind their first. */
export function overview(table: readonly Command[]): string {
  const groups = GROUPS.map((group) =>
    linesOf(table.filter((command) => command.group === group && !command.isHidden)),
  )
  return [
    'Usage: deployer <command> [words] [flags]',
    '',
    ...EXAMPLES.map((example) => `  deployer ${example}`),
    ...GROUPS.flatMap((group, index) =>
      groups[index]!.length === 0 ? [] : [`${group}:`, ...groups[index]!],
    ),
    '',
    'More about one: deployer help <command>',
  ].join('\n')
}

function linesOf(commands: readonly Command[]): string[] {
  const minor = [...new Set(commands.filter(({ isMinor }) => isMinor).map(firstWord))]
  const families = Map.groupBy(
    commands.filter(({ isMinor }) => !isMinor),
    firstWord,
  )
  const lines = [...families].map(([first, members]) => {
    const own = members.find(({ name }) => name === first)
    const actions = members
      .filter(({ name }) => name !== first)
      .map(({ name }) => name.slice(first.length + 1))
    const title = own === undefined && actions.length === 1 ? members[0]!.name : first
    const also = own === undefined && actions.length === 1 ? [] : actions
    const summary = own?.summary ?? (also.length === 0 ? members[0]!.summary : '')
    const text = [summary, also.length === 0 ? '' : `(${also.join(', ')})`].filter(Boolean).join(' ')
    return `  ${title.padEnd(SUMMARY_COLUMN - 2)}${text}`
  })
  return minor.length === 0 ? lines : [...lines, `  ${minor.join(', ')}`]
}

function firstWord({ name }: Command): string {
  return name.split(' ')[0]!
}

/** The text of `deployer help <command>`. */
export function helpOf(command: Command): string {
  const flags = flagsOf(command)
  const own = flags.filter((flag) => command.flags?.includes(flag))
  const common = flags.filter((flag) => !own.includes(flag))
  const exits = Object.entries(command.exits ?? {})
  return [
    `Usage: deployer ${usageOf(command)}`,
    '',
    `${command.summary.charAt(0).toUpperCase()}${command.summary.slice(1)}.`,
    ...(command.aliases ? ['', `Also: ${command.aliases.map((name) => `deployer ${name}`).join(', ')}`] : []),
    ...(command.more === undefined ? [] : ['', command.more]),
    ...section('Flags', own.map(flagLine)),
    ...section(own.length === 0 ? 'Flags' : 'Flags of every command', common.map(flagLine)),
    ...section(
      'Exit codes',
      exits.map(([code, meaning]) => [code, meaning]),
    ),
    ...(command.examples.length === 0 ? [] : ['', 'Examples:']),
    ...command.examples.map((example) => `  deployer ${example}`),
  ].join('\n')
}

/** A command with its words, such as `scale [service] <n>`. */
export function usageOf({ name, words = [], flags = [], takesCommand }: Command): string {
  return [
    name,
    ...words.map(wordText),
    ...(flags.length === 0 ? [] : ['[flags]']),
    ...(takesCommand ? ['-- <command…>'] : []),
  ].join(' ')
}

function wordText({ name, isOptional, repeats }: Word): string {
  const text = repeats ? `${name}…` : name
  return isOptional ? `[${text}]` : `<${text}>`
}

function flagLine({ name, short, value, summary }: Flag): [string, string] {
  const names = `${short === undefined ? '    ' : `-${short}, `}--${name}`
  return [value === undefined ? names : `${names} <${value}>`, summary]
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([first]) => first.length)) + 2
  return rows.length === 0
    ? []
    : ['', `${title}:`, ...rows.map(([first, second]) => `  ${first.padEnd(width)}${second}`)]
}
