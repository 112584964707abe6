import { z } from 'zod'
import { InEnvironment, QueryBoolean } from '../http/query.ts'

export const EnvVar = z
  .strictObject({
    key: z.string().meta({ examples: ['LOG_LEVEL'] }),
    value: z.string().meta({ examples: ['info'] }),
  })
  .meta({ id: 'EnvVar' })
export type EnvVar = z.infer<typeof EnvVar>

export const EnvReplacement = z.strictObject({ vars: z.array(EnvVar) }).meta({ id: 'EnvReplacement' })

/** `set` as a list of variables or as an object; both become a list. */
const Set = z
  .union(
    [z.array(EnvVar), z.record(z.string(), z.string())],
    'must be an array of {key, value} or an object of strings',
  )
  .default([])
  .transform((set) =>
    Array.isArray(set) ? set : Object.entries(set).map(([key, value]) => ({ key, value })),
  )
  .meta({ examples: [[{ key: 'LOG_LEVEL', value: 'debug' }]] })

export const EnvPatch = z
  .strictObject({
    set: Set,
    unset: z
      .array(z.string())
      .default([])
      .meta({ examples: [['OLD_KEY']] }),
  })
  .meta({ id: 'EnvPatch' })

/** Of a change of variables: `restart` queues a restart when the variables changed. */
export const EnvQuery = z.strictObject({ ...InEnvironment.shape, restart: QueryBoolean })
