import type { Command, Flag } from '../command.ts'

const TUNNEL: Flag = { name: 'tunnel', summary: 'go through the API, even where there is a shorter way' }

/** Commands that reach a datastore from this computer. */
export const DATASTORE_REACH: readonly Command[] = [
  {
    name: 'db connect',
    group: 'Datastores',
    summary: 'open psql or valkey-cli on a datastore',
    words: [{ name: 'datastore', completes: 'datastore' }],
    takesCommand: true,
    flags: [TUNNEL],
    more: `Runs psql, or valkey-cli or redis-cli, from this computer, with the words after --. On the server's own computer it goes to the
datastore's port, with an ssh:// server through ssh, otherwise through the API.`,
    examples: ['db connect main-db', "db connect main-db -- -c 'SELECT count(*) FROM users'"],
    exits: {
      125: 'a fault of deployer itself, such as no connection',
      127: 'the client program is not installed',
      other: 'what the client program ends with',
    },
    load: async () => (await import('../client/commands/datastore-connect.ts')).connect,
  },
  {
    name: 'db shell',
    group: 'Datastores',
    summary: 'open psql or valkey-cli in the container of a datastore',
    words: [{ name: 'datastore', completes: 'datastore' }],
    more: "The client is that of the datastore's image, so none is needed on this computer. It needs a terminal, and ends as shell does.",
    examples: ['db shell main-db', 'db shell cache --environment staging'],
    exits: {
      125: 'the client could not be opened, or was closed',
      other: 'the exit code of the client',
    },
    load: async () => (await import('../client/commands/shell.ts')).datastoreShell,
  },
  {
    name: 'db proxy',
    group: 'Datastores',
    summary: 'bring a datastore to a port of this computer, until Ctrl-C',
    words: [{ name: 'datastore', completes: 'datastore' }],
    flags: [
      { name: 'port', value: 'number', summary: 'the port on 127.0.0.1 (a free one)' },
      { name: 'reveal', summary: 'print the URL with its password' },
      TUNNEL,
    ],
    examples: ['db proxy main-db', 'db proxy main-db --port 5432'],
    load: async () => (await import('../client/commands/datastore-reach.ts')).proxy,
  },
  {
    name: 'db url',
    group: 'Datastores',
    summary: 'print the address of a datastore, with its password',
    words: [{ name: 'datastore', completes: 'datastore' }],
    flags: [{ name: 'internal', summary: 'the address for services of the same environment' }],
    examples: ['db url main-db', 'db url main-db --internal'],
    load: async () => (await import('../client/commands/datastore-reach.ts')).url,
  },
]
