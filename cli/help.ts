import { FLAGS } from '#server/flags.ts'

/** What `deployer help` prints. */
export function helpText(): string {
  const width = Math.max(...Object.keys(FLAGS).map((name) => name.length)) + 4
  const flags = Object.entries(FLAGS).map(
    ([name, { help, variable }]) => `  ${`--${name}`.padEnd(width)}${help} [${variable}]`,
  )
  return [
    'deployer serve [flags]              run the server',
    'deployer stop [--all]               end the server; with --all the data plane too',
    'deployer reset-password             replace a forgotten password (read from standard input)',
    "deployer ssh-key                    print the server's public key for clones over ssh",
    'deployer proxy upgrade              replace the running data plane by this version, without a failed request',
    'deployer version',
    '',
    'Flags of serve; a flag wins over its variable. The other commands take --data-dir.',
    ...flags,
  ].join('\n')
}
