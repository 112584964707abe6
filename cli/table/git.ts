import type { Command } from '../command.ts'

/** Accounts at git providers, and what comes from them. */
export const GIT: readonly Command[] = [
  {
    name: 'git list',
    group: 'Server',
    summary: 'list the accounts at GitHub and GitLab that are connected',
    examples: ['git list', 'git list --json'],
    load: async () => (await import('../client/commands/git.ts')).list,
  },
  {
    name: 'git repositories',
    group: 'Server',
    summary: 'list the repositories that the connected accounts may read',
    words: [{ name: 'connection', isOptional: true }],
    examples: ['git repositories', 'git repositories git-4f1d0c9a7b3e5d2f6a80 --quiet'],
    load: async () => (await import('../client/commands/git.ts')).repositories,
  },
  {
    name: 'git branches',
    group: 'Server',
    summary: 'list the branches of a repository, as its remote has them now',
    words: [{ name: 'url' }],
    examples: ['git branches https://git.example.com/team/web.git'],
    load: async () => (await import('../client/commands/git.ts')).branches,
  },
  {
    name: 'git deliveries',
    group: 'Server',
    summary: 'list what the push webhook received, and what came of it',
    flags: [
      { name: 'limit', value: 'n', summary: 'how many, the newest first (50)' },
      {
        name: 'verdict',
        value: 'verdict',
        summary: 'only those that were deployed, ignored or refused',
        completes: ['deployed', 'ignored', 'refused'],
      },
    ],
    examples: ['git deliveries', 'git deliveries --verdict refused --limit 5'],
    load: async () => (await import('../client/commands/git.ts')).deliveries,
  },
]
