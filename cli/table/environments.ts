import type { Command } from '../command.ts'

/** Environments: private networks with services and datastores of their own. */
export const ENVIRONMENTS: readonly Command[] = [
  {
    name: 'environments list',
    group: 'Services',
    summary: 'list the environments',
    examples: ['environments list', 'environments list --quiet'],
    load: async () => (await import('../client/commands/environments.ts')).list,
  },
  {
    name: 'environments create',
    group: 'Services',
    summary: 'create an environment with a private network',
    words: [{ name: 'name' }],
    examples: ['environments create staging'],
    load: async () => (await import('../client/commands/environments.ts')).create,
  },
  {
    name: 'environments delete',
    group: 'Services',
    summary: 'delete an environment that is empty',
    words: [{ name: 'name', completes: 'environment' }],
    examples: ['environments delete staging'],
    exits: { 5: 'it has services or datastores, or is production' },
    load: async () => (await import('../client/commands/environments.ts')).remove,
  },
]
