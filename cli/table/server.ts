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
