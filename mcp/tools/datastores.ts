import { z } from 'zod'
import { ask } from '../call.ts'
import { CURSOR, paged } from '../paging.ts'
import { IN_ENVIRONMENT, IN_ENVIRONMENT_OR_ALL, listed, placeOf } from '../places.ts'
import { Backup, Datastore, MORE } from '../shapes.ts'
import { defineTool, type Tool } from '../tool.ts'

const Listed = z.looseObject({ id: z.string() })

export const DATASTORE_READERS: Tool[] = [
  defineTool({
    name: 'list_datastores',
    title: 'List datastores',
    description:
      'The PostgreSQL databases and key-value stores of an environment with status, version, limits and backup schedule. Passwords are never shown: a variable gets the URL by ${{datastore.NAME.url}}.',
    effect: 'read',
    input: { ...IN_ENVIRONMENT_OR_ALL, ...CURSOR },
    output: { datastores: z.array(Datastore), ...MORE },
    async run({ environment, cursor }, { call }) {
      const items = await listed(call, 'datastores', Listed, environment)
      return paged({ list: 'datastores', items, keyOf: ({ id }) => id, cursor })
    },
  }),
]

export const DATASTORE_WRITERS: Tool[] = [
  defineTool({
    name: 'create_datastore',
    title: 'Create a datastore',
    description:
      'Creates a database (relational: PostgreSQL) or a key-value store. It is ready when list_datastores says available.',
    effect: 'write',
    input: {
      kind: z.enum(['relational', 'keyvalue']),
      name: z.string(),
      ...IN_ENVIRONMENT,
      version: z.string().optional(),
      database: z.string().optional(),
      username: z.string().optional(),
      memory_limit_mb: z.number().optional(),
      cpu_limit: z.number().optional(),
      backup_schedule: z.string().nullable().optional(),
      backup_retention: z.number().optional(),
    },
    output: { datastore: Datastore },
    async run(input, { call }) {
      return { value: { datastore: await ask(call, z.unknown(), 'POST', '/datastores', { body: input }) } }
    },
  }),
  defineTool({
    name: 'backup_datastore',
    title: 'Back a datastore up',
    description:
      'Starts a backup of a datastore now. Backups beyond its backup_retention are removed by the server, the oldest first.',
    effect: 'write',
    input: { datastore: z.string().min(1), ...IN_ENVIRONMENT },
    output: { backup: Backup },
    async run({ datastore, environment }, { call }) {
      const { path, query } = placeOf('datastores', datastore, environment)
      return { value: { backup: await ask(call, z.unknown(), 'POST', `${path}/backups`, { query }) } }
    },
  }),
]
