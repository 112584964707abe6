import { z } from 'zod'
import { defineEndpoint } from '#server/http/endpoint.ts'
import { SearchHit, SearchQuery } from '#server/search/schema.ts'
import { findByName } from '#server/search/store.ts'

export default defineEndpoint({
  summary: 'Find something by its name',
  description:
    'At most 10 of each kind, kind by kind, those first whose whole name is one of the words, then by name. Of variables only the names are searched and returned, never the values.',
  auth: 'token',
  least: 'read',
  query: SearchQuery,
  response: z.array(SearchHit),
  handler: ({ query }) => findByName(query.q),
})
