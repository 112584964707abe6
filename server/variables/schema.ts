import { z } from 'zod'
import { secret } from '../access/shown.ts'
import { InEnvironment, QueryBoolean } from '../http/query.ts'
import {
  KEY_PATTERN,
  listFault,
  MAX_KEY_CHARACTERS,
  MAX_VALUE_BYTES,
  MAX_VARIABLES,
  type Variable,
} from './rules.ts'

/** The rules for a variable's name and value, for readers of the schema. The server checks lists as a whole. */
const KEY_FORM = { pattern: KEY_PATTERN.source, maxLength: MAX_KEY_CHARACTERS }
const VALUE_FORM = { description: 'At most 64 KiB in UTF-8', maxLength: MAX_VALUE_BYTES }

export const EnvVar = z
  .strictObject({
    key: z.string().meta({ ...KEY_FORM, examples: ['LOG_LEVEL'] }),
    value: z.string().meta({ ...VALUE_FORM, examples: ['info'] }),
  })
  .meta({ id: 'EnvVar' })
export type EnvVar = z.infer<typeof EnvVar>

/** A variable as the API returns it. */
export const ShownEnvVar = z
  .object({
    key: z.string().meta({ examples: ['LOG_LEVEL'] }),
    value: secret(z.string()).meta({ examples: ['info'] }),
  })
  .meta({ id: 'ShownEnvVar', description: 'A variable of a service or an env group' })

/** A list of variables as they are given. */
export const EnvVars = z.array(EnvVar).superRefine(checkList).meta({ maxItems: MAX_VARIABLES })

export const EnvReplacement = z.strictObject({ vars: EnvVars }).meta({ id: 'EnvReplacement' })

/** `set` as a list of variables or as an object; both become a list. */
const Changes = z
  .union(
    [z.array(EnvVar), z.record(z.string().meta(KEY_FORM), z.string().meta(VALUE_FORM))],
    'must be an array of {key, value} or an object of strings',
  )
  .default([])
  .transform((set) =>
    Array.isArray(set) ? set : Object.entries(set).map(([key, value]) => ({ key, value })),
  )
  .superRefine(checkList)
  .meta({ examples: [[{ key: 'LOG_LEVEL', value: 'debug' }]] })

export const EnvPatch = z
  .strictObject({
    set: Changes,
    unset: z
      .array(z.string())
      .default([])
      .meta({ examples: [['OLD_KEY']] }),
  })
  .superRefine(({ set, unset }, context) => {
    const away = new Set(unset)
    const both = set.find(({ key }) => away.has(key))
    if (both) context.addIssue({ code: 'custom', path: ['set'], message: `${both.key} is also in unset` })
  })
  .meta({ id: 'EnvPatch' })

/** The query of a change of variables: `restart` queues a restart of what the change affects. */
export const EnvQuery = z.strictObject({ ...InEnvironment.shape, restart: QueryBoolean })

function checkList(variables: readonly Variable[], context: z.RefinementCtx): void {
  const fault = listFault(variables)
  if (fault) context.addIssue({ code: 'custom', ...fault })
}
