import { z } from 'zod'
import { secret } from '../access/shown.ts'
import { InEnvironment, QueryBoolean } from '../http/query.ts'
import { judged, Timestamp } from '../schema.ts'
import { MAX_TOTAL_BYTES, MODE_PATTERN, NAME_PATTERN, nameFault, pathFault } from './rules.ts'

export const FileName = judged(nameFault).meta({
  description: 'Name of the file; neither . nor ..',
  pattern: NAME_PATTERN.source,
  examples: ['firebase.json'],
})
export const FilePath = judged(pathFault).meta({
  description: 'Absolute; `/etc/secrets/<name>` when absent',
  examples: ['/app/config/firebase.json'],
})
export const FileMode = z
  .string()
  .regex(MODE_PATTERN, 'must be three octal digits after a 0, such as 0400')
  .meta({ examples: ['0400'] })
const CONTENT = { description: 'At most 1 MiB', maxLength: MAX_TOTAL_BYTES }
export const FileText = judged((text) =>
  text.isWellFormed() ? null : 'must not contain half of a surrogate pair, which UTF-8 cannot represent',
).meta({ ...CONTENT, examples: ['{"project_id": "demo"}'] })
export const FileBytes = z
  .base64('must be base64')
  .meta({ description: CONTENT.description, examples: ['AAECAw=='] })
export const IsSecret = z.boolean().meta({
  description: 'False for a file that the dashboard shows and that exports of blueprints include',
  examples: [true],
})

const shape = {
  name: z.string().meta({ examples: ['firebase.json'] }),
  path: z.string().meta({ examples: ['/etc/secrets/firebase.json'] }),
  mode: z.string().meta({ description: 'Octal; the owner is the user of the image', examples: ['0400'] }),
  size_bytes: z.int().meta({ examples: [2_318] }),
  // Of a short secret, it gives away what it is.
  sha256: secret(z.string()).meta({
    examples: ['9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08'],
  }),
  secret: IsSecret,
  updated_at: Timestamp,
}

/** A secret file without its content. */
export const SecretFile = z
  .object(shape)
  .meta({ id: 'SecretFile', description: 'A file that a service or an env group gives to containers' })
export type SecretFile = z.infer<typeof SecretFile>

export const SecretFileContent = z
  .object({ ...shape, content_base64: secret(z.string()).meta({ examples: ['AAECAw=='] }) })
  .meta({ id: 'SecretFileContent' })
export type SecretFileContent = z.infer<typeof SecretFileContent>

export const SecretFileInput = z
  .strictObject({
    content: FileText.optional(),
    content_base64: FileBytes.optional(),
    path: FilePath.optional(),
    mode: FileMode.default('0400'),
    secret: IsSecret.default(true),
  })
  .superRefine(({ content, content_base64 }, context) => {
    const message = 'give the content as text or as content_base64'
    if ((content === undefined) === (content_base64 === undefined))
      context.addIssue({ code: 'custom', path: ['content'], message })
  })
  .meta({
    id: 'SecretFileInput',
    examples: [
      { content: '{"project_id": "demo"}' },
      { content_base64: 'AAECAw==', path: '/app/config/key.p12', mode: '0440' },
    ],
  })
export type SecretFileInput = z.infer<typeof SecretFileInput>

/** The path of one file of a service or an env group. */
export const SecretFileRef = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id or name', examples: ['api'] }),
  name: FileName,
})

const restart = QueryBoolean.describe('Restarts the live services whose files this changes')

/** The query of a change of a service's files. */
export const ServiceFileQuery = z.strictObject({ ...InEnvironment.shape, restart })
/** The query of a change of an env group's files. */
export const GroupFileQuery = z.strictObject({ restart })
