import { SERVICE_TYPES } from '#server/services/types.ts'
import type { Command, Word } from '../command.ts'
import { FOLLOW_EXITS, FOLLOW_FLAGS } from './follow-flags.ts'

export const SERVICE: Word = { name: 'service', isOptional: true, completes: 'service' }

/** How fields of the API are given, for the help of commands that take them. */
export const FIELDS_HELP = `K=V sets a field of the API by its name, as /api/docs lists them: port=8080, auto_deploy=false,
watch_paths='["src/**"]' (JSON for arrays). K= clears it.`

/** Services: what they are and how they are set up. */
export const SERVICES: readonly Command[] = [
  {
    name: 'services',
    aliases: ['ls', 'services list'],
    group: 'Services',
    summary: 'list the services of an environment',
    more: '-e all lists those of every environment.',
    examples: ['services', 'services -e all --json'],
    load: async () => (await import('../client/commands/services.ts')).list,
  },
  {
    name: 'show',
    group: 'Services',
    summary: 'show a service: its settings, its instances, its latest deploy',
    words: [SERVICE],
    examples: ['show web', 'show web.staging --json'],
    load: async () => (await import('../client/commands/show.ts')).show,
  },
  {
    name: 'create',
    group: 'Services',
    summary: 'create a service, and follow its first deploy',
    words: [{ name: 'name' }, { name: 'K=V', isOptional: true, repeats: true }],
    flags: [
      { name: 'repo', value: 'url', summary: 'the repository that is built' },
      { name: 'branch', value: 'name', summary: "the branch or tag (the repository's default branch)" },
      { name: 'image', value: 'reference', summary: 'the image that runs, instead of a repository' },
      { name: 'type', value: 'type', summary: 'what it is (web_service)', completes: SERVICE_TYPES },
      { name: 'env', value: 'K=V', repeats: true, summary: 'a variable; may be given again' },
      {
        name: 'env-file',
        value: 'file',
        repeats: true,
        summary: 'variables from a .env file',
        completes: 'file',
      },
      {
        name: 'group',
        value: 'name',
        repeats: true,
        summary: 'a group of variables to link; may be given again',
        completes: 'group',
      },
      { name: 'no-deploy', summary: 'create it without a first deploy' },
      ...FOLLOW_FLAGS,
    ],
    more: `${FIELDS_HELP}
Without a repository and an image it waits for a folder: deployer deploy --service <name>.`,
    examples: [
      'create web --repo https://git.example.com/team/web.git --env LOG_LEVEL=info',
      'create cache --image redis:8 --type private_service port=6379 memory_limit_mb=256',
    ],
    exits: FOLLOW_EXITS,
    load: async () => (await import('../client/commands/create.ts')).create,
  },
  {
    name: 'update',
    group: 'Services',
    summary: 'change fields of a service',
    words: [SERVICE, { name: 'K=V', repeats: true }],
    more: `${FIELDS_HELP}
Build settings, and whatever a container gets, take effect with the next deploy.`,
    examples: ['update web branch=main health_check_path=/healthz', 'update web start_command='],
    load: async () => (await import('../client/commands/services.ts')).update,
  },
  {
    name: 'delete',
    group: 'Services',
    summary: 'delete a service with its containers, deploys and variables',
    words: [SERVICE],
    flags: [{ name: 'force', summary: "delete it even if other services' variables refer to it" }],
    examples: ['delete web', 'delete web.staging --yes'],
    exits: { 5: "other services' variables refer to it" },
    load: async () => (await import('../client/commands/services.ts')).remove,
  },
  {
    name: 'open',
    group: 'Services',
    isMinor: true,
    summary: 'open the URL of a service in the browser',
    words: [SERVICE],
    flags: [
      { name: 'dashboard', summary: 'open its page in the dashboard; without a service the dashboard' },
      { name: 'print', summary: 'only print the address, as without a terminal' },
    ],
    more: 'The dashboard of a server that is reached by ssh is brought to a port of this computer until Ctrl-C.',
    examples: ['open web', 'open web --dashboard'],
    exits: { 5: 'it has no URL' },
    load: async () => (await import('../client/commands/open.ts')).open,
  },
]
