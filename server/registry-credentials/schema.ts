import { z } from 'zod'
import { QueryBoolean } from '../http/query.ts'
import { imageFault, readRegistry } from '../images/reference.ts'
import { deployableImageFault } from '../images/registry.ts'
import { idSchema, judged, Name, Timestamp } from '../schema.ts'

/** A name (RFC 1035) and a port. */
const MAX_HOST_CHARACTERS = 259
const MAX_USERNAME_CHARACTERS = 256
/** Some registries take a whole key file as the password. */
const MAX_PASSWORD_CHARACTERS = 16 * 1024

const Host = z
  .string()
  .max(MAX_HOST_CHARACTERS)
  .transform((text, context) => {
    const host = readRegistry(text.trim())
    const fault =
      host === null
        ? 'must be the host of a registry as images are named by it, such as ghcr.io or registry.example.com:5000'
        : deployableImageFault(`${host}/image`)
    if (fault === null) return host!
    context.issues.push({ code: 'custom', input: text, message: fault })
    return z.NEVER
  })
  .meta({
    description: 'The registry as images are named by it; `docker.io` is Docker Hub',
    examples: ['ghcr.io'],
  })

/** A colon would end it (RFC 7617 section 2). */
const Username = z
  .string()
  .min(1)
  .max(MAX_USERNAME_CHARACTERS)
  .regex(/^[^\p{Cc}:]*$/u, 'must have no colon and no control characters')
  .meta({ examples: ['octocat'] })

const Password = z
  .string()
  .min(1)
  .max(MAX_PASSWORD_CHARACTERS)
  .refine((text) => !text.includes('\0'), 'must not contain NUL')
  .refine((text) => text.isWellFormed(), 'must not contain half of a surrogate pair')
  .meta({ description: 'A password or an access token. Never shown', examples: ['ghp_example'] })

const PathPrefix = judged((text) =>
  imageFault(`docker.io/${text}`) === null && !/[:@]/.test(text)
    ? null
    : 'must be the beginning of paths at the registry, such as acme or acme/shop',
)
  .nullable()
  .optional()
  .meta({
    description: 'Only images whose path is this or begins with it and a slash; null is the whole registry',
    examples: ['acme'],
  })

const fields = {
  name: Name.meta({ examples: ['github'] }),
  host: Host,
  username: Username,
  password: Password,
  path_prefix: PathPrefix,
}

export const RegistryCredentialInput = z.strictObject(fields).meta({
  id: 'RegistryCredentialInput',
  examples: [{ name: 'github', host: 'ghcr.io', username: 'octocat', password: 'ghp_example' }],
})
export type RegistryCredentialInput = z.infer<typeof RegistryCredentialInput>

export const RegistryCredentialPatch = z
  .strictObject({
    name: fields.name.optional(),
    host: Host.optional(),
    username: Username.optional(),
    password: Password.optional(),
    path_prefix: PathPrefix,
  })
  .meta({ id: 'RegistryCredentialPatch', examples: [{ password: 'ghp_another' }] })
export type RegistryCredentialPatch = z.infer<typeof RegistryCredentialPatch>

export const RegistryCredential = z
  .object({
    id: idSchema('registryCredential'),
    name: z.string().meta({ examples: ['github'] }),
    host: z.string().meta({ examples: ['ghcr.io'] }),
    username: z.string().meta({ examples: ['octocat'] }),
    path_prefix: z
      .string()
      .nullable()
      .meta({ examples: [null] }),
    created_at: Timestamp,
    updated_at: Timestamp,
  })
  .meta({ id: 'RegistryCredential', description: 'What images of a private registry are pulled with' })
export type RegistryCredential = z.infer<typeof RegistryCredential>

export const RegistryCredentialDeletion = z.strictObject({
  force: QueryBoolean.describe('Deletes it even when services name it'),
})

export const RegistryVerification = z
  .object({
    ok: z.boolean(),
    error: z
      .string()
      .nullable()
      .meta({ description: 'Why the registry did not accept it', examples: [null] }),
  })
  .meta({ id: 'RegistryVerification' })
export type RegistryVerification = z.infer<typeof RegistryVerification>
