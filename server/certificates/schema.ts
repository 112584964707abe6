import { z } from 'zod'
import { reachable } from '../access/shown.ts'
import { idSchema, Timestamp } from '../schema.ts'

const CERTIFICATE_STATES = ['issued', 'pending', 'issuing', 'failed', 'local', 'disabled'] as const
export type CertificateState = (typeof CERTIFICATE_STATES)[number]

export const CertificateEntry = reachable(
  z
    .object({
      host: z.string().meta({ examples: ['api.example.com'] }),
      service: z
        .string()
        .nullable()
        .meta({
          description: "Its qualified name; null for redirect hosts and the dashboard's",
          examples: ['api'],
        }),
      redirects_to: z
        .string()
        .nullable()
        .meta({ description: 'Where a redirect host leads', examples: [null] }),
      state: z.enum(CERTIFICATE_STATES).meta({
        description:
          '`pending`: waits for DNS or its turn; `local`: no authority certifies the name; `disabled`: the server runs without HTTPS',
        examples: ['issued'],
      }),
      expires_at: Timestamp.nullable().meta({ description: 'When the certificate in use expires' }),
      error: z
        .string()
        .nullable()
        .meta({ description: 'Why there is none, or no newer one, yet', examples: [null] }),
      retry_at: Timestamp.nullable().meta({ description: 'When the next attempt is made' }),
      issuer: z
        .string()
        .nullable()
        .meta({ examples: ["Let's Encrypt E7"] }),
      source: z
        .enum(['acme', 'uploaded'])
        .nullable()
        .meta({ examples: ['acme'] }),
      not_before: Timestamp.nullable(),
    })
    .meta({ id: 'CertificateEntry', description: 'How a routed hostname is certified' }),
  (entry, reach) => (entry.service !== null && reach.serviceQualified(entry.service) ? entry : undefined),
)
export type CertificateEntry = z.infer<typeof CertificateEntry>

export const UploadedCertificate = z
  .object({
    id: idSchema('certificate'),
    hosts: z
      .array(z.string())
      .meta({ description: 'The names that it covers', examples: [['example.com', '*.example.com']] }),
    issuer: z.string().meta({ examples: ['Example CA'] }),
    not_before: Timestamp,
    expires_at: Timestamp,
    created_at: Timestamp,
    warning: z
      .string()
      .nullable()
      .meta({ description: 'Why browsers refuse it although it is served', examples: [null] }),
  })
  .meta({ id: 'UploadedCertificate' })
export type UploadedCertificate = z.infer<typeof UploadedCertificate>

/** Enough for a chain of a few certificates; a key is smaller. */
const MAX_PEM_CHARACTERS = 256 * 1024

const Pem = z.string().min(1).max(MAX_PEM_CHARACTERS)

export const CertificateUpload = z
  .strictObject({
    certificate: Pem.meta({
      description: 'PEM; the chain in any order',
      examples: ['-----BEGIN CERTIFICATE-----…'],
    }),
    private_key: Pem.meta({
      description: 'PEM, without a passphrase',
      examples: ['-----BEGIN PRIVATE KEY-----…'],
    }),
  })
  .meta({ id: 'CertificateUpload' })
export type CertificateUpload = z.infer<typeof CertificateUpload>

export const UploadedCertificateRef = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id of the uploaded certificate', examples: ['crt-4f1d0c9a7b3e5d2f6a80'] }),
})
