import { SERVICE_EVENT_NOUNS, SERVICE_EVENT_TYPES } from '#server/service-events/types.ts'
import type { Command, Flag, Word } from '../command.ts'

const SERVICE: Word = { name: 'service', isOptional: true, completes: 'service' }
const SERVICES: Word = { ...SERVICE, repeats: true }
const TIMESTAMPS: Flag = { name: 'timestamps', short: 't', summary: 'print the time before each line' }
/** What logs that are kept have in common; of services also the stream of their requests. */
const logFlags = (...streams: string[]): Flag[] => [
  { name: 'follow', short: 'f', summary: 'go on with new lines until Ctrl-C' },
  { name: 'tail', short: 'n', value: 'n', summary: 'how many recent lines (100)' },
  { name: 'since', value: 'time', summary: 'only lines from then on: 15m, 2h, 3d or a timestamp' },
  { name: 'until', value: 'time', summary: 'only lines before then' },
  {
    name: 'search',
    value: 'text',
    summary: 'only lines with a text, in any case, or with an RE2 expression between slashes',
  },
  {
    name: 'stream',
    value: 'stream',
    summary: `only lines of ${streams.slice(0, -1).join(', ')} or ${streams.at(-1)}`,
    completes: streams,
  },
]
const LOG_EXITS = {
  '4': 'what is followed was deleted',
  '6': 'the connection could not be taken up again for 5 minutes',
  '130': 'Ctrl-C',
}
const TAKEN_UP =
  'A connection that is lost is taken up again, for 5 minutes; no line is printed twice, none is left out. With --json each line is an object with ts, stream, line and instance; {"skipped": n} says that n lines are missing, null that it is not known how many.'

/** Commands about what runs. */
export const RUNNING: readonly Command[] = [
  {
    name: 'logs',
    group: 'Services',
    summary: 'print what the instances of services print',
    words: [SERVICES],
    flags: [
      ...logFlags('stdout', 'stderr', 'system', 'access'),
      { name: 'all', short: 'a', summary: 'of every service of the environment' },
      {
        name: 'level',
        value: 'levels',
        summary: 'only lines of these levels, such as warn,error: debug, info, warn, error',
        completes: ['debug', 'info', 'warn', 'error'],
      },
      { name: 'instance', value: 'name', summary: 'only lines of an instance' },
      {
        name: 'deploy',
        value: 'deploy',
        summary: 'only lines of the instances of a deploy',
        completes: 'deploy',
      },
      TIMESTAMPS,
    ],
    more: `It goes back across deploys, crashes and restarts. Of several services, the stored lines are merged by their times, new ones come as they arrive, and each line begins with the name of its service; with --json it also has service_id, service, deploy_id and level. ${TAKEN_UP}`,
    examples: ['logs web api -f', 'logs --all --since 1h --level warn,error --timestamps'],
    exits: LOG_EXITS,
    load: async () => (await import('../client/commands/logs.ts')).logs,
  },
  {
    name: 'ps',
    group: 'Services',
    isMinor: true,
    summary: 'list the instances of a service',
    words: [SERVICE],
    more: 'Without a terminal, each line has name, state, health, CPU, bytes of memory, restarts, start and reason.',
    examples: ['ps web', 'ps web --json'],
    load: async () => (await import('../client/commands/running.ts')).ps,
  },
  {
    name: 'timeline',
    group: 'Services',
    summary: 'list what happened to a service: deploys, crashes, scaling, saved settings',
    words: [SERVICE],
    flags: [
      { name: 'limit', value: 'n', summary: 'how many, newest first (50, at most 500)' },
      {
        name: 'type',
        value: 'type',
        summary: 'only of a type such as service.crashed, or of all that begin with deploy, service, ...',
        completes: [...SERVICE_EVENT_NOUNS, ...SERVICE_EVENT_TYPES],
      },
    ],
    more: 'It goes back 90 days. Without a terminal, each line has the time, the type, what happened and who did it. What changes anywhere, as it happens, is printed by deployer events.',
    examples: ['timeline web', 'timeline web --type service.crashed --json'],
    load: async () => (await import('../client/commands/timeline.ts')).timeline,
  },
  {
    name: 'run',
    group: 'Services',
    summary: 'run a command in a new container of the live image',
    words: [SERVICE],
    takesCommand: true,
    flags: [{ name: 'detach', summary: "print the job's id and end, while the job goes on" }],
    more: "One word after -- is passed to sh -c as it is; of several the program gets exactly these words. Without any, a cron job runs its own command. It runs with the service's variables, network and limits, without its disk. Standard input is not passed, and there is no terminal. What it prints to standard error, and what the server says, goes to standard error. It ends with the exit code of the command. With --json the ended job is printed instead of its output. Ctrl-C cancels the job and waits for its end; a second one leaves it to itself.",
    examples: ['run web -- npm run migrate', "run web -- 'echo $HOME; ls | wc -l'"],
    exits: {
      '1': 'the job ended without an exit code (or the command ended with 1)',
      '125': 'the job could not be started or followed',
      '130': 'Ctrl-C: the job is canceled',
    },
    load: async () => (await import('../client/commands/run.ts')).run,
  },
  {
    name: 'shell',
    group: 'Services',
    summary: 'open a shell in an instance, or in a fresh container',
    words: [SERVICE],
    takesCommand: true,
    flags: [
      { name: 'instance', value: 'name', summary: 'in this instance (one of the live version)' },
      {
        name: 'fresh',
        summary: 'in a new container from the live image, without disks, removed at the end',
      },
    ],
    more: 'Opens bash, or sh, or the command after --, as run takes it. It needs a terminal, and ends with the exit code of the program. The program ends with the connection. It closes when nothing is typed or printed for 15 minutes, and after 8 hours.',
    examples: ['shell web', 'shell web --fresh -- bin/console'],
    exits: {
      '125': 'the shell could not be opened, or was closed',
      other: 'the exit code of the program',
    },
    load: async () => (await import('../client/commands/shell.ts')).shell,
  },
  {
    name: 'jobs',
    aliases: ['jobs list'],
    group: 'Services',
    summary: 'list the jobs of a service: commands that were run, and runs of a cron job',
    words: [SERVICE],
    flags: [{ name: 'limit', value: 'n', summary: 'how many, newest first (20, at most 500)' }],
    more: 'Without a terminal, each line has id, status, exit code, trigger, time of creation, seconds and command.',
    examples: ['jobs web', 'jobs nightly --limit 1 --json'],
    load: async () => (await import('../client/commands/jobs.ts')).list,
  },
  {
    name: 'jobs show',
    group: 'Services',
    summary: 'show a job, and why it failed',
    words: [{ name: 'id' }],
    examples: ['jobs show job-4f1d0c9a7b3e5d2f6a80', 'jobs show job-4f1d0c9a7b3e5d2f6a80 --json'],
    load: async () => (await import('../client/commands/jobs.ts')).show,
  },
  {
    name: 'jobs logs',
    group: 'Services',
    summary: 'print the output of a job',
    words: [{ name: 'id' }],
    flags: [
      { name: 'follow', short: 'f', summary: 'go on until the job has ended, and end as it does' },
      TIMESTAMPS,
    ],
    examples: ['jobs logs job-4f1d0c9a7b3e5d2f6a80', 'jobs logs job-4f1d0c9a7b3e5d2f6a80 -f'],
    exits: { '1': 'with --follow: the job failed, or was canceled' },
    load: async () => (await import('../client/commands/jobs.ts')).logs,
  },
  {
    name: 'jobs cancel',
    group: 'Services',
    summary: 'cancel a job that waits or runs',
    words: [{ name: 'id' }],
    examples: ['jobs cancel job-4f1d0c9a7b3e5d2f6a80', 'jobs cancel job-4f1d0c9a7b3e5d2f6a80 --json'],
    load: async () => (await import('../client/commands/jobs.ts')).cancel,
  },
  {
    name: 'scale',
    group: 'Services',
    summary: 'set how many instances of a service run',
    words: [SERVICE, { name: 'n' }],
    more: 'It takes effect at once, without a deploy. With 0 none runs, and requests are answered with 503.',
    examples: ['scale web 3', 'scale worker 0'],
    load: async () => (await import('../client/commands/running.ts')).scale,
  },
  {
    name: 'suspend',
    group: 'Services',
    isMinor: true,
    summary: 'stop a service and keep its settings',
    words: [SERVICE],
    more: 'A deploy that is in progress is canceled.',
    examples: ['suspend web', 'suspend web --environment staging'],
    load: async () => (await import('../client/commands/running.ts')).suspend,
  },
  {
    name: 'resume',
    group: 'Services',
    isMinor: true,
    summary: 'start a suspended service again',
    words: [SERVICE],
    examples: ['resume web', 'resume web --environment staging'],
    load: async () => (await import('../client/commands/running.ts')).resume,
  },
  {
    name: 'db logs',
    group: 'Datastores',
    summary: 'print what a datastore prints',
    words: [{ name: 'name', completes: 'datastore' }],
    flags: [...logFlags('stdout', 'stderr', 'system'), TIMESTAMPS],
    more: TAKEN_UP,
    examples: ['db logs main -f', 'db logs main --since 1h --search error'],
    exits: LOG_EXITS,
    load: async () => (await import('../client/commands/logs.ts')).datastoreLogs,
  },
]
