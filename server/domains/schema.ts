import { z } from 'zod'
import { DnsRecord } from '../environments/schema.ts'
import { idSchema, Timestamp } from '../schema.ts'
import { MAX_NAME_CHARACTERS, readName } from './names.ts'
import { DOMAIN_STATUSES } from './states.ts'

export const DomainCheck = z
  .object({
    kind: z.enum(['dns', 'http']).meta({
      description:
        '`dns`: what a random name under the domain resolves to; `http`: whether this server answers there',
    }),
    outcome: z.enum(['passed', 'failed', 'skipped']),
    message: z.string().meta({ examples: ['it resolves to 203.0.113.7, which is this server'] }),
  })
  .meta({ id: 'DomainCheck' })
export type DomainCheck = z.infer<typeof DomainCheck>

export const HostCheck = z
  .object({
    name: z
      .string()
      .meta({ description: 'The host, or the wildcard that covers it', examples: ['*.staging.example.com'] }),
    leads_here: z.boolean().meta({ examples: [true] }),
    records: z.array(DnsRecord).meta({
      description: "The DNS records to create; empty while the server's public address is not known",
    }),
    checks: z.array(DomainCheck).meta({ description: 'The results of checking it now' }),
  })
  .meta({ id: 'HostCheck', description: 'The DNS records that a name needs, and where the name leads' })
export type HostCheck = z.infer<typeof HostCheck>

export const Domain = z
  .object({
    id: idSchema('domain'),
    name: z.string().meta({ examples: ['example.com'] }),
    source: z.enum(['config', 'api']).meta({
      description: '`config` is the base domain, which is set when the server starts',
      examples: ['api'],
    }),
    status: z.enum(DOMAIN_STATUSES).meta({
      description: '`failed`: it was active, but its names no longer reach the server; it is still served',
      examples: ['pending'],
    }),
    is_default: z
      .boolean()
      .meta({ description: 'Services are shown and linked under it', examples: [false] }),
    local: z
      .boolean()
      .meta({ description: 'A name that needs no DNS and no certificate', examples: [false] }),
    served: z.boolean().meta({ examples: [false] }),
    url_pattern: z.string().meta({ examples: ['https://<service>.example.com'] }),
    records: z.array(DnsRecord).meta({ description: 'The DNS records to create' }),
    checks: z.array(DomainCheck).meta({ description: 'The results of the last check' }),
    created_at: Timestamp,
    checked_at: Timestamp.nullable(),
    verified_at: Timestamp.nullable().meta({ description: 'When its names first reached the server' }),
  })
  .meta({ id: 'Domain', description: 'A name under which services are served, each by one label' })
export type Domain = z.infer<typeof Domain>

/** A domain name, with or without a trailing dot, which is normalized. */
export const DomainName = z
  .string()
  .meta({ minLength: 1, maxLength: MAX_NAME_CHARACTERS + 1 })
  .transform((text, context) => {
    const read = readName(text)
    if ('name' in read) return read.name
    context.issues.push({ code: 'custom', input: text, message: read.fault })
    return z.NEVER
  })

export const DomainInput = z
  .strictObject({ name: DomainName.meta({ examples: ['example.com'] }) })
  .meta({ id: 'DomainInput', examples: [{ name: 'example.com' }] })
export type DomainInput = z.infer<typeof DomainInput>

export const DomainPatch = z
  .strictObject({
    is_default: z
      .boolean()
      .optional()
      .meta({ examples: [true] }),
  })
  .meta({ id: 'DomainPatch', examples: [{ is_default: true }] })
export type DomainPatch = z.infer<typeof DomainPatch>
