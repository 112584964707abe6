import type { Command } from '../command.ts'
import { SERVICE } from './services.ts'

/** Commands about what differs between setups of a service. */
export const CHANGES: readonly Command[] = [
  {
    name: 'changes',
    group: 'Deploy',
    summary: 'show what is saved of a service and not live yet',
    words: [SERVICE],
    more: 'Settings with both values; of variables and secret files the names alone. What takes effect at once is not in it.',
    examples: ['changes web', 'changes web --json'],
    load: async () => (await import('../client/commands/changes.ts')).changes,
  },
  {
    name: 'changes discard',
    group: 'Deploy',
    summary: 'put what is saved of a service back to what is live',
    words: [SERVICE],
    more: 'It asks before; --yes answers. What is inside of env groups stays, since other services may share them.',
    examples: ['changes discard web', 'changes discard web --yes'],
    load: async () => (await import('../client/commands/changes.ts')).discard,
  },
  {
    name: 'compare',
    group: 'Deploy',
    isMinor: true,
    summary: 'show what a deploy changed against another one of its service',
    words: [
      { name: 'deploy', completes: 'deploy' },
      { name: 'with', isOptional: true, completes: 'deploy' },
    ],
    more: 'Without a second deploy: against the version that was live before it.',
    examples: [
      'compare dep-4f1d0c9a7b3e5d2f6a80',
      'compare dep-4f1d0c9a7b3e5d2f6a80 dep-7b3e5d2f6a804f1d0c9a',
    ],
    load: async () => (await import('../client/commands/changes.ts')).compare,
  },
]
