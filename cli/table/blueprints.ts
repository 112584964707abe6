import type { Command } from '../command.ts'
import { FIELDS_HELP } from './services.ts'

const FAULTS =
  'Faults of the file are printed as <file>:<line>:<column>: <path>: <message>, and nothing is changed.'

/** Whole environments as files, and the API as it is. */
export const BLUEPRINTS: readonly Command[] = [
  {
    name: 'apply',
    group: 'Deploy',
    summary: 'create and update what a blueprint describes, and follow the deploys',
    words: [{ name: 'file', completes: 'file' }],
    flags: [
      { name: 'dry-run', summary: 'only print the plan' },
      { name: 'repo', value: 'url', summary: 'the repository of services in a render.yaml that name none' },
      { name: 'branch', value: 'name', summary: 'its branch' },
      { name: 'detach', summary: 'print the ids of the deploys and end, while they go on' },
    ],
    more: `Prints the plan and asks before anything is changed; nothing is ever deleted. - is standard input.\n${FAULTS}`,
    examples: ['apply deployer.yaml --dry-run', 'apply deployer.yaml --environment staging --yes'],
    exits: { 1: 'a deploy failed', 2: 'the file has faults, or it could not be asked' },
    load: async () => (await import('../client/commands/blueprints.ts')).apply,
  },
  {
    name: 'export',
    group: 'Deploy',
    isMinor: true,
    summary: 'print an environment as a blueprint',
    flags: [{ name: 'secrets', summary: 'with the values that look like secrets' }],
    examples: ['export > deployer.yaml', 'export --environment staging --secrets'],
    load: async () => (await import('../client/commands/blueprints.ts')).exportEnvironment,
  },
  {
    name: 'convert',
    group: 'Deploy',
    isMinor: true,
    summary: 'print the blueprint that a Compose file becomes',
    words: [{ name: 'file', completes: 'file' }],
    more: `What differs is told on standard error. - is standard input.\n${FAULTS}`,
    examples: ['convert docker-compose.yml > deployer.yaml'],
    exits: { 2: 'the file has faults' },
    load: async () => (await import('../client/commands/blueprints.ts')).convert,
  },
  {
    name: 'api',
    group: 'Server',
    summary: 'send any request to the API, and print the answer as it comes',
    words: [
      { name: 'method', completes: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'] },
      { name: 'path' },
      { name: 'K=V', isOptional: true, repeats: true },
    ],
    flags: [
      {
        name: 'input',
        value: 'file',
        summary: 'send the file as the body; - is standard input',
        completes: 'file',
      },
      {
        name: 'content-type',
        value: 'type',
        summary: 'what the body is (by the name of the file, else JSON)',
      },
    ],
    more: `The path is below /api/v1, or begins with /api/. ${FIELDS_HELP}
With GET, HEAD, DELETE and with --input, K=V goes into the query.`,
    examples: ['api GET /services environment=staging', 'api PATCH /services/web instances=2'],
    load: async () => (await import('../client/commands/api.ts')).callApi,
  },
]
