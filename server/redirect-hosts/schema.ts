import { z } from 'zod'
import { DomainName } from '../domains/schema.ts'
import { idSchema, judged, Timestamp } from '../schema.ts'

const MAX_URL_CHARACTERS = 2_000
const STATUSES = [301, 302, 303, 307, 308] as const

const To = judged((text) => (text.length > MAX_URL_CHARACTERS ? TOO_LONG : targetFault(text))).meta({
  minLength: 1,
  maxLength: MAX_URL_CHARACTERS,
  description: 'An absolute http or https URL',
  examples: ['https://www.example.org'],
})
const TOO_LONG = `must have at most ${MAX_URL_CHARACTERS} characters`

const KeepPath = z
  .boolean()
  .meta({ description: 'Whether the path and the query of a request are appended', examples: [true] })
const Status = z.literal(STATUSES).meta({ examples: [308] })

export const RedirectHostInput = z
  .strictObject({
    host: DomainName.meta({ examples: ['example.org'] }),
    to: To,
    keep_path: KeepPath.default(true),
    status: Status.default(308),
  })
  .meta({ id: 'RedirectHostInput', examples: [{ host: 'example.org', to: 'https://www.example.org' }] })
export type RedirectHostInput = z.infer<typeof RedirectHostInput>

export const RedirectHostPatch = z
  .strictObject({
    host: DomainName.optional().meta({ examples: ['example.org'] }),
    to: To.optional(),
    keep_path: KeepPath.optional(),
    status: Status.optional(),
  })
  .meta({ id: 'RedirectHostPatch', examples: [{ status: 302 }] })
export type RedirectHostPatch = z.infer<typeof RedirectHostPatch>

export const RedirectHost = z
  .object({
    id: idSchema('redirectHost'),
    host: z.string().meta({ examples: ['example.org'] }),
    to: z.string().meta({ examples: ['https://www.example.org/'] }),
    keep_path: KeepPath,
    status: Status,
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'RedirectHost', description: 'A host whose requests are all redirected' })
export type RedirectHost = z.infer<typeof RedirectHost>

/** The path parameter of one redirect host. */
export const RedirectHostPath = z.strictObject({
  id: z.string().meta({ description: 'Id or host', examples: ['rdr-4f1d0c9a7b3e5d2f6a80'] }),
})

/** Why nothing can be redirected to a text, worded to follow the field's name; null when it can. */
function targetFault(text: string): string | null {
  const url = URL.parse(text)
  if (!url || !['http:', 'https:'].includes(url.protocol)) return 'must be an absolute http or https URL'
  return url.username + url.password === '' ? null : 'must have no user name and no password'
}
