import { FLAGS } from '#server/flags.ts'

/** What `deployer help` prints. */
export function helpText(): string {
  const width = Math.max(...Object.keys(FLAGS).map((name) => name.length)) + 4
  const flags = Object.entries(FLAGS).map(
    ([name, { help, variable }]) => `  ${`--${name}`.padEnd(width)}${help} [${variable}]`,
  )
  return [
    'deployer serve [flags]              run the server',
    'deployer install [flags]            run the server as a service, now and after each boot; flags of serve are kept',
    'deployer uninstall [--data]         end the service; containers and data stay unless --data says otherwise',
    'deployer status                     say what runs, where, and in which version',
    'deployer stop [--all]               end the server; with --all the data plane too',
    'deployer reset-password             replace a forgotten password (read from standard input)',
    "deployer ssh-key                    print the server's public key for clones over ssh",
    'deployer proxy upgrade              replace the running data plane by this version, without a failed request',
    'deployer proxy start                bring the data plane up, for a unit of its own',
    'deployer version',
    '',
    'Flags of serve; a flag wins over its variable. The other commands take --data-dir.',
    ...flags,
  ].join('\n')
}
