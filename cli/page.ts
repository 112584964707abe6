import { COMMON_FLAGS, type Command, type Flag, type Group } from './command.ts'
import { usageOf } from './help.ts'

/** The page of docs that describes every command, in Markdown. */
export function commandsPage(table: readonly Command[]): string {
  const groups = Map.groupBy(
    table.filter(({ isHidden }) => !isHidden),
    ({ group }) => group,
  )
  return [
    '# Commands of `deployer`',
    '',
    'How they are used together is in [cli.md](cli.md). `deployer help <command>` prints the same on a terminal.',
    '',
    'Flags of every command but those of the host:',
    '',
    ...COMMON_FLAGS.map(flagLine),
    ...[...groups].flatMap(([group, commands]) => groupText(group, commands)),
    '',
  ].join('\n')
}

function groupText(group: Group, commands: readonly Command[]): string[] {
  return ['', `## ${group}`, ...commands.flatMap(commandText)]
}

function commandText(command: Command): string[] {
  const { name, aliases, summary, more, flags = [], exits = {}, examples } = command
  const isListedElsewhere = command.readsOwnWords
  const also = aliases ? ` Also \`${aliases.join('`, `')}\`.` : ''
  return [
    '',
    `### ${name}`,
    '',
    `\`deployer ${usageOf(command)}\`: ${summary}.${also}`,
    ...(more === undefined ? [] : ['', more]),
    ...(isListedElsewhere
      ? ['', 'Its flags: [operation.md](operation.md).']
      : flags.length === 0
        ? []
        : ['', ...flags.map(flagLine)]),
    ...Object.entries(exits).map(
      ([code, meaning], index) => `${index === 0 ? '\n' : ''}- exit code ${code}: ${meaning}`,
    ),
    '',
    '```sh',
    ...examples.map((example) => `deployer ${example}`),
    '```',
  ]
}

function flagLine({ name, short, value, summary }: Flag): string {
  const names = `${short === undefined ? '' : `-${short}, `}--${name}${value === undefined ? '' : ` <${value}>`}`
  return `- \`${names}\`: ${summary}`
}
