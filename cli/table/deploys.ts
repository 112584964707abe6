import type { Command, Flag } from '../command.ts'
import { FOLLOW_EXITS, FOLLOW_FLAGS } from './follow-flags.ts'

const LIMIT: Flag = { name: 'limit', value: 'n', summary: 'how many, newest first (20, at most 500)' }
const TIMESTAMPS: Flag = { name: 'timestamps', short: 't', summary: 'print the time before each line' }

/** Commands about deploys. */
export const DEPLOYS: readonly Command[] = [
  {
    name: 'deploys',
    aliases: ['deploys list'],
    group: 'Deploy',
    summary: 'list the deploys of a service',
    words: [{ name: 'service', isOptional: true, completes: 'service' }],
    flags: [LIMIT],
    more: 'Without a terminal, each line has id, status, trigger, commit or image, time of creation and seconds.',
    examples: ['deploys web', 'deploys web --limit 1 --quiet'],
    load: async () => (await import('../client/commands/deploys.ts')).list,
  },
  {
    name: 'deploys show',
    group: 'Deploy',
    summary: 'show a deploy, and why it failed',
    words: [{ name: 'id', completes: 'deploy' }],
    examples: ['deploys show dep-4f1d0c9a7b3e5d2f6a80', 'deploys show dep-4f1d0c9a7b3e5d2f6a80 --json'],
    load: async () => (await import('../client/commands/deploys.ts')).show,
  },
  {
    name: 'deploys logs',
    group: 'Deploy',
    summary: 'print the build and deploy log',
    words: [{ name: 'id', completes: 'deploy' }],
    flags: [
      { name: 'follow', short: 'f', summary: 'go on until the deploy has ended, and end as it does' },
      TIMESTAMPS,
    ],
    more: 'A connection that is lost is taken up again, for 5 minutes; no line is printed twice, none is left out.',
    examples: ['deploys logs dep-4f1d0c9a7b3e5d2f6a80', 'deploys logs dep-4f1d0c9a7b3e5d2f6a80 -f'],
    exits: {
      '1': 'with --follow: the deploy failed, or was canceled or superseded',
      '6': 'the connection could not be taken up again',
      '130': 'Ctrl-C: the deploy goes on',
    },
    load: async () => (await import('../client/commands/deploys.ts')).logs,
  },
  {
    name: 'deploys cancel',
    group: 'Deploy',
    summary: 'cancel a deploy that is queued or running; the live one keeps serving',
    words: [{ name: 'id', completes: 'deploy' }],
    examples: ['deploys cancel dep-4f1d0c9a7b3e5d2f6a80', 'deploys cancel dep-4f1d0c9a7b3e5d2f6a80 --json'],
    load: async () => (await import('../client/commands/deploys.ts')).cancel,
  },
  {
    name: 'rollback',
    group: 'Deploy',
    summary: 'return to an earlier deploy, without a build',
    words: [{ name: 'service', isOptional: true, completes: 'service' }],
    flags: [
      {
        name: 'to',
        value: 'deploy',
        summary: 'the deploy to return to (the newest before the live one that was live)',
        completes: 'deploy',
      },
      ...FOLLOW_FLAGS,
    ],
    more: 'Settings and variables become those of the earlier deploy. It asks before; --yes answers.',
    examples: ['rollback web', 'rollback web --to dep-4f1d0c9a7b3e5d2f6a80 --yes'],
    exits: FOLLOW_EXITS,
    load: async () => (await import('../client/commands/deploys.ts')).rollback,
  },
  {
    name: 'restart',
    group: 'Services',
    summary: 'start new instances of what is live, with the current settings and variables',
    words: [{ name: 'service', isOptional: true, completes: 'service' }],
    flags: FOLLOW_FLAGS,
    examples: ['restart web', 'restart web --detach'],
    exits: FOLLOW_EXITS,
    load: async () => (await import('../client/commands/deploys.ts')).restart,
  },
]
