import { FLAGS, type FlagName } from '#server/options/flags.ts'
import type { Command, Flag } from '../command.ts'

export const DATA_DIRECTORY = 'Takes --data-dir if the server does not use the default data directory.'

/** Flags of `serve` that a command takes, too. */
export function settings(...names: FlagName[]): Flag[] {
  return names.map((name) => ({
    name,
    value: 'value',
    summary: `${FLAGS[name].help} [${FLAGS[name].variable}]`,
  }))
}

const PASSPHRASE_FILE: Flag = {
  name: 'passphrase-file',
  value: 'file',
  summary: 'file that holds the passphrase of the backup [DEPLOYER_BACKUP_PASSPHRASE_FILE]',
  completes: 'file',
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
    name: 'doctor',
    group: "The server's host",
    summary: 'examine the server and its host, and say what to do about what is wrong',
    flags: [
      ...settings(
        'data-dir',
        'api-token',
        'api-token-file',
        'docker-host',
        'base-domain',
        'dashboard-host',
        'http-listen',
        'https-listen',
        'public-ip',
        'public-http-port',
        'tls',
        'dns-resolvers',
        'acme-directory',
        'acme-ca-file',
      ),
      AS_JSON,
    ],
    more: `A running server is asked to examine itself. Without one the host is examined, with the settings that install has saved
or that are given here; what only a running server knows is skipped. It takes at most 3 s and changes nothing.
${DATA_DIRECTORY} If the server was started with --api-token-file, pass it here too.`,
    examples: ['doctor', 'doctor --json'],
    exits: { 3: 'a check has failed' },
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
    name: 'backup',
    group: "The server's host",
    summary: 'back the server up into a file, or - for standard output, while it runs or not',
    words: [{ name: 'file', isOptional: true, completes: 'file' }],
    flags: [
      ...settings('data-dir'),
      {
        name: 'without',
        value: 'parts',
        summary: 'leave out datastores, logs, or both with a comma',
        completes: ['datastores', 'logs'],
      },
      { name: 'with', value: 'parts', summary: 'also back up disks', completes: ['disks'] },
      PASSPHRASE_FILE,
      AS_JSON,
    ],
    more: `Without a file the running server keeps the backup among its own. One that is stopped needs a file.
The file contains every secret of the server: keep it as safe as the server, and the passphrase apart from it.
${DATA_DIRECTORY}`,
    examples: [
      'backup /mnt/nas/deployer.tar.gz',
      'backup - --without logs | ssh nas "cat > deployer.tar.gz"',
    ],
    isOfServer: true,
  },
  {
    name: 'backup verify',
    group: "The server's host",
    summary: 'read a backup of the server to its end, and open its database',
    words: [{ name: 'file', completes: 'file' }],
    flags: [PASSPHRASE_FILE, AS_JSON],
    more: 'Needs no server, and changes nothing. A sealed backup asks for its passphrase on a terminal.',
    examples: [
      'backup verify deployer.tar.gz',
      'backup verify deployer.tar.gz.age --passphrase-file secret.txt',
    ],
    isOfServer: true,
  },
  {
    name: 'restore',
    group: "The server's host",
    summary: 'bring the server back from a backup, into an empty data directory',
    words: [{ name: 'file', isOptional: true, completes: 'file' }],
    flags: [
      ...settings(
        'data-dir',
        'backup-s3-url',
        'backup-s3-key',
        'backup-s3-key-file',
        'backup-s3-secret',
        'backup-s3-secret-file',
        'backup-s3-region',
      ),
      { name: 'from-bucket', summary: 'from the bucket: its newest backup, or the one whose id is given' },
      { name: 'list', summary: 'list the backups in the bucket, newest first' },
      { name: 'dry-run', summary: 'read the backup to its end, and say what would not come back' },
      { name: 'force', summary: 'over the data of a stopped server, which is kept beside' },
      PASSPHRASE_FILE,
      { name: 'status', summary: 'show how the restore goes' },
      { name: 'confirm', summary: 'say that the old server is gone, so that this one goes to work' },
      AS_JSON,
    ],
    more: `Nothing is touched until the whole backup was read and found sound. The restored server only looks until you
confirm that the old one is gone, since two servers with the same data get in each other's way. Then it keeps what
the container engine still has, restores datastores and disks from their backups, and deploys what has no image.
${DATA_DIRECTORY}`,
    examples: ['restore deployer.tar.gz', 'restore --from-bucket --passphrase-file secret.txt'],
    exits: { 3: 'with --status: a step has failed' },
    isOfServer: true,
  },
  {
    name: 'reset-password',
    group: "The server's host",
    isMinor: true,
    summary: 'replace a forgotten password (read from standard input)',
    flags: [
      ...settings('data-dir'),
      { name: 'keep-second-factor', summary: 'leave the authenticator app, passkeys and recovery codes' },
    ],
    more: `Works with the server running or not, ends every session, lifts the block after too many failed sign-ins, and
removes second factors, so that the new password is enough to sign in. API tokens stay valid. On a terminal it asks
for the new password; otherwise it reads it from standard input:

  printf '%s' "$NEW_PASSWORD" | deployer reset-password

${DATA_DIRECTORY}`,
    examples: ['reset-password', 'reset-password --keep-second-factor'],
    isOfServer: true,
  },
  {
    name: 'token create',
    group: "The server's host",
    isMinor: true,
    summary: 'print a new API token, once',
    words: [{ name: 'name' }],
    flags: [
      ...settings('data-dir'),
      { name: 'expires-in', value: 'time', summary: 'how long it holds, such as 90d (without an end)' },
      {
        name: 'access',
        value: 'mode',
        summary: 'what it may do: read, deploy (and read) or full (the default)',
        completes: ['read', 'deploy', 'full'],
      },
      { name: 'secrets', summary: 'with --access: let it see variables, passwords and downloads' },
      {
        name: 'environment',
        short: 'e',
        value: 'name',
        repeats: true,
        summary: 'with --access: only in this environment',
      },
      {
        name: 'service',
        short: 's',
        value: 'service',
        repeats: true,
        summary: 'with --access: only this service, by its name in --environment (production) or its id',
      },
      AS_JSON,
    ],
    more: `Works with the server running or not, for users who can write its data directory. With --access deploy the token may
also deploy, upload, restart, roll back, cancel and run cron jobs; it changes no settings. --access without --secrets makes a
token that sees no secrets.\n${DATA_DIRECTORY}`,
    examples: ['token create laptop', 'token create ci --access deploy --service web --expires-in 90d'],
    isOfServer: true,
  },
  {
    name: 'token list',
    group: "The server's host",
    isMinor: true,
    summary: 'list the API tokens',
    flags: [...settings('data-dir'), AS_JSON],
    more: DATA_DIRECTORY,
    examples: ['token list', 'token list --json'],
    isOfServer: true,
  },
  {
    name: 'token revoke',
    group: "The server's host",
    isMinor: true,
    summary: 'revoke an API token',
    words: [{ name: 'id' }],
    flags: settings('data-dir'),
    more: `A running server refuses it at once; streams and tunnels that are open with it end within 5 s.\n${DATA_DIRECTORY}`,
    examples: ['token revoke tok-0123456789abcdef0123'],
    isOfServer: true,
  },
  {
    name: 'client',
    group: "The server's host",
    isMinor: true,
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
