import type { Command, Flag } from '../command.ts'
import { SERVICE } from './services.ts'

const GROUP: Flag = {
  name: 'group',
  value: 'name',
  summary: 'the variables of a group, not of a service',
  completes: 'group',
}
const RESTART: Flag = { name: 'restart', summary: 'restart the live services that it changes' }
const KEY = { name: 'key' }

const FILE_HELP = `The file is read as node --env-file does: KEY=value, comments with #, values in '…', \`…\` or "…", over several
lines if they are in quotes. The last of equal keys counts, and a warning names their lines.`

/** Variables of services, and groups that services share. */
export const VARIABLES: readonly Command[] = [
  {
    name: 'env list',
    group: 'Variables',
    summary: 'list the variables of a service or a group',
    words: [SERVICE],
    flags: [GROUP, { name: 'reveal', summary: 'show the values' }],
    examples: ['env list web', 'env list --group shared --reveal'],
    load: async () => (await import('../client/commands/variables.ts')).list,
  },
  {
    name: 'env get',
    group: 'Variables',
    summary: 'print the value of a variable',
    words: [KEY, SERVICE],
    flags: [GROUP],
    examples: ['env get DATABASE_URL --service web', 'env get LOG_LEVEL --group shared'],
    exits: { 4: 'there is no such variable' },
    load: async () => (await import('../client/commands/variables.ts')).get,
  },
  {
    name: 'env set',
    group: 'Variables',
    summary: 'set variables',
    words: [{ name: 'K=V', repeats: true }],
    flags: [GROUP, RESTART],
    more: `A single key without a value is asked for without showing it, or read from standard input, so that a secret stands in no
history of a shell.`,
    examples: [
      'env set LOG_LEVEL=debug WORKERS=4 --service web --restart',
      'env set API_KEY -s web < key.txt',
    ],
    load: async () => (await import('../client/commands/variables.ts')).set,
  },
  {
    name: 'env unset',
    group: 'Variables',
    summary: 'remove variables',
    words: [{ ...KEY, repeats: true }],
    flags: [GROUP, RESTART],
    examples: ['env unset OLD_KEY --service web', 'env unset A B --group shared'],
    exits: { 4: 'one of them is not there; nothing is changed' },
    load: async () => (await import('../client/commands/variables.ts')).unset,
  },
  {
    name: 'env pull',
    group: 'Variables',
    summary: 'write the variables to a .env file that only you can read',
    words: [{ name: 'file', isOptional: true, completes: 'file' }],
    flags: [GROUP, { name: 'force', summary: 'replace the file' }],
    more: 'The file is .env unless one is named; - is standard output.',
    examples: ['env pull --service web', 'env pull - --group shared'],
    exits: { 1: 'the file cannot be written, or no quotes of such a file hold a value, which is left out' },
    load: async () => (await import('../client/commands/env-files.ts')).pull,
  },
  {
    name: 'env push',
    group: 'Variables',
    summary: 'set the variables that a .env file has',
    words: [{ name: 'file', isOptional: true, completes: 'file' }],
    flags: [GROUP, RESTART, { name: 'replace', summary: 'remove those that the file does not have' }],
    more: `The file is .env unless one is named; - is standard input. ${FILE_HELP}
Prints + for what is new, ~ for what has another value, - for what is removed; never a value.`,
    examples: ['env push --service web --restart', 'env push production.env -s web --replace --yes'],
    exits: { 2: 'a line of the file is wrong; nothing is changed' },
    load: async () => (await import('../client/commands/env-files.ts')).push,
  },
  ...groups(),
]

function groups(): Command[] {
  const group = { name: 'group', completes: 'group' as const }
  const load = () => import('../client/commands/groups.ts')
  return [
    {
      name: 'groups list',
      group: 'Variables',
      summary: 'list the groups of variables, and the services linked to them',
      examples: ['groups list', 'groups list --quiet'],
      load: async () => (await load()).list,
    },
    {
      name: 'groups create',
      group: 'Variables',
      summary: 'create a group of variables',
      words: [{ name: 'name' }],
      flags: [
        { name: 'env', value: 'K=V', repeats: true, summary: 'a variable; may be given again' },
        {
          name: 'env-file',
          value: 'file',
          repeats: true,
          summary: 'variables from a .env file',
          completes: 'file',
        },
      ],
      examples: ['groups create shared --env LOG_LEVEL=info', 'groups create shared --env-file shared.env'],
      load: async () => (await load()).create,
    },
    {
      name: 'groups delete',
      group: 'Variables',
      summary: 'delete a group of variables',
      words: [group],
      flags: [{ name: 'force', summary: 'delete it even if services are linked to it' }, RESTART],
      examples: ['groups delete shared', 'groups delete shared --force --restart'],
      exits: { 5: 'services are linked to it' },
      load: async () => (await load()).remove,
    },
    {
      name: 'groups link',
      group: 'Variables',
      summary: 'give a service the variables of a group',
      words: [group, SERVICE],
      more: 'The group wins over those linked before, the own variables of the service over all.',
      examples: ['groups link shared web', 'groups link shared web.staging'],
      load: async () => (await load()).link,
    },
    {
      name: 'groups unlink',
      group: 'Variables',
      summary: 'take the variables of a group from a service',
      words: [group, SERVICE],
      examples: ['groups unlink shared web'],
      load: async () => (await load()).unlink,
    },
  ]
}
