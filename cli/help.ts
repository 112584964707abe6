import { AppError } from '#server/errors.ts'
import { FLAGS } from '#server/options/flags.ts'

interface Usage {
  /** The part after `deployer`. */
  synopsis: string
  summary: string
  /** What `deployer help <command>` adds. */
  more?: string
}

const DATA_DIRECTORY = 'Takes --data-dir if the server does not use the default data directory.'

const USAGES: Usage[] = [
  { synopsis: 'serve [flags]', summary: 'run the server' },
  {
    synopsis: 'install [flags]',
    summary: 'run the server as a service, now and after each boot, with the given flags of serve',
    more: 'Flags are saved until they are given again; an empty value removes one. Needs root and systemd.',
  },
  {
    synopsis: 'uninstall [--data]',
    summary: 'remove the service; containers and data stay unless --data is given',
    more: 'With --data it asks before it deletes anything permanently; --yes skips the question. Needs root and systemd.',
  },
  {
    synopsis: 'status',
    summary: 'show what runs, where, and in which version',
    more: `The exit code is 0 if both programs run and respond, else 3.
${DATA_DIRECTORY} If the server was started with --api-token-file, pass it here too.`,
  },
  {
    synopsis: 'stop [--all]',
    summary: 'stop the server; with --all also the data plane',
    more: `Containers keep running in both cases; without --all, requests to them are still answered.\n${DATA_DIRECTORY}`,
  },
  {
    synopsis: 'reset-password',
    summary: 'replace a forgotten password (read from standard input)',
    more: `Works with the server running or not, ends every session, and lifts the block after too many failed sign-ins.
API tokens stay valid. On a terminal it asks for the new password; otherwise it reads it from standard input:

  printf '%s' "$NEW_PASSWORD" | deployer reset-password

${DATA_DIRECTORY}`,
  },
  {
    synopsis: 'ssh-key',
    summary: "print the server's public key for clones over ssh",
    more: `The key is created if there is none yet.\n${DATA_DIRECTORY}`,
  },
  {
    synopsis: 'proxy upgrade',
    summary: 'replace the running data plane with this version, without a failed request',
    more: DATA_DIRECTORY,
  },
  {
    synopsis: 'proxy start',
    summary: 'start the data plane, for use in its systemd unit',
    more: DATA_DIRECTORY,
  },
  { synopsis: 'version', summary: 'print the version' },
  { synopsis: 'help [command]', summary: 'print this overview, or help for a command' },
]
/** Wide enough for the longest synopsis. */
const SYNOPSIS_WIDTH = 36

/** Returns the text of `deployer help`, or of one command if it is named. Throws `invalid_request` for an unknown one. */
export function helpText(command?: string): string {
  // The flags, which the overview lists, are all there is to say about serve.
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

/** Returns the error for a command that does not exist. */
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
    'Flags of serve and install; a flag overrides its variable. Other commands: deployer help <command>.',
    ...flags,
  ].join('\n')
}
