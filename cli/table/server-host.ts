import { FLAGS, type FlagName } from '#server/options/flags.ts'
import type { Command, Flag } from '../command.ts'

const DATA_DIRECTORY = 'Takes --data-dir if the server does not use the default data directory.'

/** Flags of `serve` that a command takes, too. */
function settings(...names: FlagName[]): Flag[] {
  return names.map((name) => ({
    name,
    value: 'value',
    summary: `${FLAGS[name].help} [${FLAGS[name].variable}]`,
  }))
}

const AS_JSON: Flag = { name: 'json', summary: 'print JSON' }

/** Commands of the host that the server runs on. */
export const SERVER_HOST: readonly Command[] = [
  {
    name: 'serve',
    group: "The server's host",
    summary: 'run the server',
    flags: settings(...(Object.keys(FLAGS) as FlagName[])),
    more: 'A flag overrides its variable.',
    examples: ['serve', 'serve --base-domain example.com --acme-email ops@example.com'],
    isOfServer: true,
    readsOwnWords: true,
  },
  {
    name: 'install',
    group: "The server's host",
    summary: 'run the server as a service, now and after each boot, with the given flags of serve',
    flags: settings(...(Object.keys(FLAGS) as FlagName[])),
    more: 'Flags are saved until they are given again; an empty value removes one. Needs root and systemd.',
    examples: ['install --base-domain example.com', 'install --h2c='],
    isOfServer: true,
    readsOwnWords: true,
  },
  {
    name: 'uninstall',
    group: "The server's host",
    isMinor: true,
    summary: 'remove the service; containers and data stay unless --data is given',
    flags: [
      { name: 'data', summary: 'also remove the data directory and every container' },
      { name: 'yes', summary: 'do not ask' },
    ],
    more: 'With --data it asks before it deletes anything permanently; --yes skips the question. Needs root and systemd.',
    examples: ['uninstall', 'uninstall --data'],
    isOfServer: true,
  },
  {
    name: 'status',
    group: "The server's host",
    summary: 'show what runs, where, and in which version',
    flags: settings('data-dir', 'api-token', 'api-token-file'),
    more: `The exit code is 0 if both programs run and respond, else 3.
${DATA_DIRECTORY} If the server was started with --api-token-file, pass it here too.`,
    examples: ['status', 'status --data-dir /srv/deployer'],
    exits: { 3: 'something does not run or does not respond' },
    isOfServer: true,
  },
  {
    name: 'stop',
    group: "The server's host",
    summary: 'stop the server; with --all also the data plane',
    flags: [...settings('data-dir'), { name: 'all', summary: 'also stop the data plane' }],
    more: `Containers keep running in both cases; without --all, requests to them are still answered.\n${DATA_DIRECTORY}`,
    examples: ['stop', 'stop --all'],
    isOfServer: true,
  },
  {
    name: 'reset-password',
    group: "The server's host",
    isMinor: true,
    summary: 'replace a forgotten password (read from standard input)',
    flags: settings('data-dir'),
    more: `Works with the server running or not, ends every session, and lifts the block after too many failed sign-ins.
API tokens stay valid. On a terminal it asks for the new password; otherwise it reads it from standard input:

  printf '%s' "$NEW_PASSWORD" | deployer reset-password

${DATA_DIRECTORY}`,
    examples: ['reset-password', 'reset-password --data-dir /srv/deployer'],
    isOfServer: true,
  },
  {
    name: 'token create',
    group: "The server's host",
    summary: 'print a new API token, once',
    words: [{ name: 'name' }],
    flags: [
      ...settings('data-dir'),
      { name: 'expires-in', value: 'time', summary: 'how long it holds, such as 90d (without an end)' },
      AS_JSON,
    ],
    more: `Works with the server running or not, for users who can write its data directory.\n${DATA_DIRECTORY}`,
    examples: ['token create laptop', 'token create ci --expires-in 90d'],
    isOfServer: true,
  },
  {
    name: 'token list',
    group: "The server's host",
    summary: 'list the API tokens',
    flags: [...settings('data-dir'), AS_JSON],
    more: DATA_DIRECTORY,
    examples: ['token list', 'token list --json'],
    isOfServer: true,
  },
  {
    name: 'token revoke',
    group: "The server's host",
    summary: 'revoke an API token',
    words: [{ name: 'id' }],
    flags: settings('data-dir'),
    more: `A running server refuses it at once; streams and tunnels that are open with it end within half a minute.\n${DATA_DIRECTORY}`,
    examples: ['token revoke tok-0123456789abcdef0123'],
    isOfServer: true,
  },
  {
    name: 'client',
    group: "The server's host",
    summary: 'write deployer for other computers, a package of npm, to standard output',
    more: 'The server hands out the same package at /cli.tgz.',
    examples: ['client > deployer-cli.tgz', 'client | ssh laptop "cat > deployer-cli.tgz"'],
    isOfServer: true,
  },
  {
    name: 'ssh-key',
    group: "The server's host",
    isMinor: true,
    summary: "print the server's public key for clones over ssh",
    flags: settings('data-dir'),
    more: `The key is created if there is none yet.\n${DATA_DIRECTORY}`,
    examples: ['ssh-key', 'ssh-key --data-dir /srv/deployer'],
    isOfServer: true,
  },
  {
    name: 'proxy upgrade',
    group: "The server's host",
    isMinor: true,
    summary: 'replace the running data plane with this version, without a failed request',
    flags: settings('data-dir', 'proxy-workers'),
    more: DATA_DIRECTORY,
    examples: ['proxy upgrade', 'proxy upgrade --data-dir /srv/deployer'],
    isOfServer: true,
  },
  {
    name: 'proxy start',
    group: "The server's host",
    isMinor: true,
    summary: 'start the data plane, for use in its systemd unit',
    flags: settings('data-dir', 'proxy-workers'),
    more: DATA_DIRECTORY,
    examples: ['proxy start', 'proxy start --data-dir /srv/deployer'],
    isOfServer: true,
  },
]
