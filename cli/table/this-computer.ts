import type { Command } from '../command.ts'
import { DATA_DIRECTORY, settings } from './server-host.ts'

/** Commands about this computer: which servers it knows, and the program itself. */
export const THIS_COMPUTER: readonly Command[] = [
  {
    name: 'login',
    group: 'This computer',
    summary: 'sign in to a server, by a browser',
    words: [{ name: 'url', isOptional: true, completes: 'host' }],
    flags: [
      { name: 'as', value: 'alias', summary: 'the name under which the server is saved' },
      { name: 'name', value: 'text', summary: 'what the token is called (user@host)' },
      { name: 'no-browser', summary: 'do not open the browser' },
      {
        name: 'token',
        summary: 'read a token from standard input instead',
        refusesValue:
          '--token takes no value, since others can see the command line: pass the token on standard input',
      },
    ],
    examples: ['login https://dashboard.example.com', 'login ssh://root@server.example.com --as prod'],
    load: async () => (await import('../client/commands/sign-in.ts')).login,
  },
  {
    name: 'logout',
    group: 'This computer',
    isMinor: true,
    summary: 'forget a server and its token',
    words: [{ name: 'alias', isOptional: true, completes: 'host' }],
    flags: [{ name: 'all', summary: 'forget every server' }],
    examples: ['logout', 'logout --all'],
    load: async () => (await import('../client/commands/sign-in.ts')).logout,
  },
  {
    name: 'whoami',
    group: 'This computer',
    isMinor: true,
    summary: 'show which server and token are used, and both versions',
    examples: ['whoami', 'whoami --json'],
    load: async () => (await import('../client/commands/whoami.ts')).whoami,
  },
  {
    name: 'hosts',
    aliases: ['hosts list'],
    group: 'This computer',
    summary: 'list the saved servers',
    examples: ['hosts', 'hosts --json'],
    load: async () => (await import('../client/commands/hosts.ts')).list,
  },
  {
    name: 'hosts use',
    group: 'This computer',
    summary: 'make a saved server the default',
    words: [{ name: 'alias', completes: 'host' }],
    examples: ['hosts use prod'],
    load: async () => (await import('../client/commands/hosts.ts')).use,
  },
  {
    name: 'hosts remove',
    group: 'This computer',
    summary: 'forget a saved server and its token',
    words: [{ name: 'alias', completes: 'host' }],
    examples: ['hosts remove staging'],
    load: async () => (await import('../client/commands/hosts.ts')).remove,
  },
  {
    name: 'init',
    group: 'This computer',
    summary: 'link this folder to a service',
    words: [{ name: 'service', isOptional: true, completes: 'service' }],
    flags: [{ name: 'create', summary: 'create the service if it does not exist' }],
    examples: ['init web', 'init web --environment staging'],
    load: async () => (await import('../client/commands/link.ts')).init,
  },
  {
    name: 'unlink',
    group: 'This computer',
    isMinor: true,
    summary: 'remove the link of this folder',
    examples: ['unlink'],
    load: async () => (await import('../client/commands/link.ts')).unlink,
  },
  {
    name: 'mcp',
    group: 'This computer',
    isMinor: true,
    summary: 'serve agents: the Model Context Protocol on standard input and output',
    flags: [
      { name: 'write', summary: 'also offer the tools that deploy and change something' },
      { name: 'tools', value: 'a,b', summary: 'offer these tools alone' },
      { name: 'print-config', summary: 'print what the configuration of a host needs, and end' },
    ],
    more: 'It ends when its input does. Without a sign-in it starts, and every tool says that one is needed.',
    examples: ['mcp --print-config', 'mcp --write --tools get_service,read_logs,deploy_service'],
    load: async () => (await import('../client/commands/mcp.ts')).mcp,
  },
  {
    name: 'completion',
    group: 'This computer',
    isMinor: true,
    summary: 'print the completion script of a shell',
    words: [{ name: 'bash|zsh|fish', completes: ['bash', 'zsh', 'fish'] }],
    examples: ['completion bash', 'completion fish'],
    load: async () => (await import('../completion/index.ts')).printScript,
  },
  {
    name: 'upgrade',
    group: 'This computer',
    isMinor: true,
    summary:
      "install this program in the server's version; with a release, on the server's host, upgrade the server",
    words: [{ name: 'release', isOptional: true, completes: 'file' }],
    flags: [
      ...settings('data-dir'),
      {
        name: 'key',
        value: 'file',
        summary: "public key of the release's maker; without it the one in the running release",
        completes: 'file',
      },
    ],
    more: `Without a release this program is installed in the way in which it was installed before.

A release is a file or a URL, with SHA256SUMS and SHA256SUMS.sig next to it. Nothing is changed unless it is whole,
signed, and newer than what runs. Then a backup is made, and deploys under way end first. For a minute the new version is
watched, and answers changes with 503. If it is no good, the old version is back with its database. No request to a
service fails. ${DATA_DIRECTORY}`,
    examples: [
      'upgrade',
      'upgrade deployer-1.2.0-linux-x64.tar.gz',
      'upgrade https://example.com/deployer-1.2.0-linux-x64.tar.gz --key release-key.pem',
    ],
    isOfServerWithWords: true,
    load: async () => (await import('../client/commands/upgrade.ts')).upgrade,
  },
  {
    name: 'version',
    group: 'This computer',
    isMinor: true,
    summary: 'print the version',
    examples: ['version'],
    load: async () => (await import('../version.ts')).printVersion,
  },
]
