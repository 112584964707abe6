import { CLEANUP_KINDS } from '#server/disk-use/kinds.ts'
import type { Command } from '../command.ts'

/** Commands about the server as a whole. */
export const SERVER: readonly Command[] = [
  {
    name: 'server info',
    group: 'Server',
    summary: 'show what the server is and runs on',
    examples: ['server info', 'server info --json'],
    load: async () => (await import('../client/commands/server.ts')).info,
  },
  {
    name: 'server doctor',
    group: 'Server',
    summary: 'have the server examine itself, and say what to do about what is wrong',
    more: 'On its own host, deployer doctor does the same, and works without a running server, too.',
    examples: ['server doctor', 'server doctor --json'],
    exits: { 1: 'a check has failed' },
    load: async () => (await import('../client/commands/doctor.ts')).doctor,
  },
  {
    name: 'server logs',
    group: 'Server',
    summary: "print the server's own log",
    flags: [
      { name: 'follow', short: 'f', summary: 'go on with new lines until Ctrl-C' },
      { name: 'tail', short: 'n', value: 'n', summary: 'how many recent lines (100, at most 2000)' },
      {
        name: 'level',
        value: 'level',
        summary: 'only lines of this level and above: debug, info, warn or error',
        completes: ['debug', 'info', 'warn', 'error'],
      },
    ],
    more: 'A connection that is lost is taken up again, for 5 minutes. The server keeps 2000 lines, until it ends.',
    examples: ['server logs -f --level warn', 'server logs -n 20 --json'],
    exits: { '6': 'the connection could not be taken up again', '130': 'Ctrl-C' },
    load: async () => (await import('../client/commands/logs.ts')).serverLogs,
  },
  {
    name: 'server disk',
    group: 'Server',
    summary: "show how full the server's disks are, and with what",
    more: 'By kind, and on a terminal the largest by name. Measuring can take the engine of a large server seconds.',
    examples: ['server disk', 'server disk --json'],
    load: async () => (await import('../client/commands/disk.ts')).disk,
  },
  {
    name: 'server cleanup',
    group: 'Server',
    summary: 'remove what the server created and no longer needs',
    words: [{ name: 'kind', isOptional: true, repeats: true, completes: CLEANUP_KINDS }],
    flags: [{ name: 'dry-run', summary: 'only print what would be removed' }],
    more: `The server does the same by itself every minute. Prints what would be removed, and asks. Of these kinds, or of all: ${CLEANUP_KINDS.join(', ')}.`,
    examples: ['server cleanup --dry-run', 'server cleanup images build_cache --yes'],
    exits: { '2': 'it could not be asked' },
    load: async () => (await import('../client/commands/disk.ts')).cleanup,
  },
  {
    name: 'metrics',
    group: 'Server',
    summary: 'show what a service uses, or the server without one',
    words: [{ name: 'service', isOptional: true, completes: 'service' }],
    flags: [
      {
        name: 'range',
        value: 'range',
        summary: 'how far back: 1h, 6h or 24h (1h for a service, now for the server)',
        completes: ['1h', '6h', '24h'],
      },
      { name: 'once', summary: 'print it once on a terminal, too' },
      { name: 'server', summary: 'of the server, in a folder that is linked to a service' },
    ],
    more: 'On a terminal it is drawn again every 2 seconds until Ctrl-C. Elsewhere it is printed once, each line with what it is about first. With --json each answer is an object in a line.',
    examples: ['metrics web --range 6h', 'metrics --once'],
    load: async () => (await import('../client/commands/metrics.ts')).metrics,
  },
  {
    name: 'events',
    group: 'Server',
    summary: 'print what changes, until Ctrl-C',
    more: 'Each line has kind, action, id and the service. After a lost connection {"kind":"all","action":"resync"} says that changes may be missing.',
    examples: ['events', 'events --json'],
    exits: { '6': 'the connection could not be taken up again', '130': 'Ctrl-C' },
    load: async () => (await import('../client/commands/events.ts')).events,
  },
]
