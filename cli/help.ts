import { AppError } from '#server/errors.ts'
import { FLAGS } from '#server/options/flags.ts'

interface Usage {
  /** As it is written after `deployer`. */
  synopsis: string
  summary: string
  /** What `deployer help <command>` adds. */
  more?: string
}

const DATA_DIRECTORY = 'Takes --data-dir where the server has another data directory than the usual one.'

const USAGES: Usage[] = [
  { synopsis: 'serve [flags]', summary: 'run the server' },
  {
    synopsis: 'install [flags]',
    summary: 'run the server as a service, now and after each boot; flags of serve are kept',
    more: 'A flag that was kept stays until it is given again; one with an empty value is forgotten. Needs root and systemd.',
  },
  {
    synopsis: 'uninstall [--data]',
    summary: 'end the service; containers and data stay unless --data says otherwise',
    more: 'With --data it asks before anything is removed for good; --yes, for scripts, answers that. Needs root and systemd.',
  },
  {
    synopsis: 'status',
    summary: 'say what runs, where, and in which version',
    more: `The exit code is 0 when both programs run and answer, else 3.
${DATA_DIRECTORY} A server that was given its token takes --api-token-file here too.`,
  },
  {
    synopsis: 'stop [--all]',
    summary: 'end the server; with --all the data plane too',
    more: `Containers go on in both cases; without --all requests are answered on.\n${DATA_DIRECTORY}`,
  },
  {
    synopsis: 'reset-password',
    summary: 'replace a forgotten password (read from standard input)',
    more: `Works with the server running or not, ends every session, and lets sign-ins be judged again after too many that failed.
API tokens stay. On a terminal it asks for the new password; else it reads it from standard input:

  printf '%s' "$NEW_PASSWORD" | deployer reset-password

${DATA_DIRECTORY}`,
  },
  {
    synopsis: 'ssh-key',
    summary: "print the server's public key for clones over ssh",
    more: `It is made when there is none yet.\n${DATA_DIRECTORY}`,
  },
  {
    synopsis: 'proxy upgrade',
    summary: 'replace the running data plane by this version, without a failed request',
    more: DATA_DIRECTORY,
  },
  {
    synopsis: 'proxy start',
    summary: 'bring the data plane up, for a unit of its own',
    more: DATA_DIRECTORY,
  },
  { synopsis: 'version', summary: 'print the version' },
  { synopsis: 'help [command]', summary: 'print this, or more about a command' },
]
/** Wide enough for the longest of them. */
const SYNOPSIS_WIDTH = 36

/** What `deployer help` prints, of one command alone when it is named. Throws `invalid_request` for an unknown one. */
export function helpText(command?: string): string {
  // The flags are what there is to say of these.
  if (command === undefined || command === 'serve' || command === 'help') return overview()
  const usages = USAGES.filter(({ synopsis }) => synopsis.split(' ')[0] === command)
  if (usages.length === 0) throw unknownCommand(command)
  return usages
    .map(({ synopsis, summary, more }) =>
      [`Usage: deployer ${synopsis}`, '', `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`, more]
        .filter((line) => line !== undefined)
        .join('\n'),
    )
    .join('\n\n')
}

/** The refusal of a command that is not there. */
export function unknownCommand(name: string): AppError {
  return new AppError('invalid_request', `there is no command ${name}; see deployer help`)
}

function overview(): string {
  const width = Math.max(...Object.keys(FLAGS).map((name) => name.length)) + 4
  const flags = Object.entries(FLAGS).map(
    ([name, { help, variable }]) => `  ${`--${name}`.padEnd(width)}${help} [${variable}]`,
  )
  return [
    ...USAGES.map(({ synopsis, summary }) => `deployer ${synopsis}`.padEnd(SYNOPSIS_WIDTH) + summary),
    '',
    'Flags of serve and install; a flag wins over its variable. Other commands: deployer help <command>.',
    ...flags,
  ].join('\n')
}
