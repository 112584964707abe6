import { z } from 'zod'

export const SEARCH_KINDS = [
  'service',
  'datastore',
  'environment',
  'env_group',
  'variable',
  'domain',
  'redirect',
  'registry_credential',
  'blueprint',
  'notification',
  'log_drain',
  'node',
] as const
export type SearchKind = (typeof SEARCH_KINDS)[number]

/** Longer than any name with where it is. */
const MAX_QUERY_CHARACTERS = 200

export const SearchQuery = z.strictObject({
  q: z
    .string()
    .trim()
    .min(1)
    .max(MAX_QUERY_CHARACTERS)
    .meta({
      description:
        'Words, each of which is in the name, or in the name of what it belongs to or its environment; in either case',
      examples: ['api log_level'],
    }),
})

const Holder = z
  .object({
    kind: z.enum(['service', 'env_group']).meta({ examples: ['service'] }),
    id: z.string().meta({ examples: ['srv-4f1d0c9a7b3e5d2f6a80'] }),
    name: z.string().meta({ examples: ['api'] }),
  })
  .meta({ id: 'SearchHolder' })

export const SearchHit = z
  .object({
    kind: z.enum(SEARCH_KINDS).meta({ examples: ['variable'] }),
    id: z
      .string()
      .nullable()
      .meta({ description: 'Null for a variable and a custom domain, which have none', examples: [null] }),
    name: z.string().meta({ examples: ['LOG_LEVEL'] }),
    holder: Holder.nullable().meta({
      description: 'What a variable or a custom domain belongs to; null for everything else',
    }),
    environment: z
      .string()
      .nullable()
      .meta({ description: 'Null for what belongs to no environment', examples: ['production'] }),
  })
  .meta({ id: 'SearchHit', description: 'Something by its name' })
export type SearchHit = z.infer<typeof SearchHit>
