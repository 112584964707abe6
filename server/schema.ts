import { z } from 'zod'
import { parseTimestamp } from './clock.ts'
import { ID_PATTERN, ID_PREFIXES, type IdKind } from './ids.ts'

/**
 * A text that is checked by a rule. The rule returns what is wrong, worded to follow the field's name in a message, or null.
 */
export function judged(fault: (text: string) => string | null) {
  return z.string().superRefine((text, context) => {
    const found = fault(text)
    if (found !== null) context.addIssue(found)
  })
}

/** A text without NUL and with a maximum length. */
export function text(maximum: number) {
  return z
    .string()
    .max(maximum)
    .refine((value) => !value.includes('\0'), 'must not contain NUL')
    .refine((value) => value.isWellFormed(), 'must not contain half of a surrogate pair')
}

/** A DNS label (RFC 1035 section 2.3.1, in lower case). */
const NAME_PATTERN = /^[a-z]([a-z0-9-]{0,61}[a-z0-9])?$/

/** The name of a service, datastore, environment or env group. */
export const Name = z
  .string()
  .regex(NAME_PATTERN, 'must be a DNS label: 1 to 63 of a-z, 0-9 and hyphen, a letter first, no hyphen last')
  .refine((text) => !ID_PATTERN.test(text), 'must not look like an id')

/** An id of this kind, as the API has it. */
export function idSchema(kind: IdKind) {
  const prefix = ID_PREFIXES[kind]
  return z
    .string()
    .meta({ pattern: `^${prefix}-[0-9a-f]{20}$`, examples: [`${prefix}-4f1d0c9a7b3e5d2f6a80`] })
}

/** A time, as the API has it. */
export const Timestamp = z.string().meta({ format: 'date-time', examples: ['2026-01-02T03:04:05.678Z'] })

/** A time as it is given, which becomes milliseconds. */
export const Moment = moment(() => null)

/** A time to come as it is given, which becomes milliseconds. */
export const FutureMoment = moment((at) => (at > Date.now() ? null : 'must be in the future'))

/** RFC 3339 with any offset. zod's own type would add a pattern of 250 characters to the OpenAPI document. */
function moment(fault: (at: number) => string | null) {
  return judged((given) => {
    const at = parseTimestamp(given)
    return at === null ? 'must be a timestamp such as 2030-01-02T03:04:05Z' : fault(at)
  })
    .transform((given) => parseTimestamp(given)!)
    .meta({ format: 'date-time', examples: ['2030-01-02T03:04:05Z'] })
}

/** The path parameter of an endpoint that accepts an id or a name. */
export const IdOrName = z.strictObject({
  id: z
    .string()
    .min(1)
    .meta({ description: 'Id or name', examples: ['api'] }),
})

/** Nothing useful starts with less. */
export const MIN_MEMORY_MB = 16
const MAX_MEMORY_MB = 1024 * 1024
const MIN_CPUS = 0.01
const MAX_CPUS = 512

/** A memory limit as requested. */
export const MemoryLimit = z
  .int()
  .refine(
    (value) => value === 0 || (value >= MIN_MEMORY_MB && value <= MAX_MEMORY_MB),
    `must be 0 (the server default) or ${MIN_MEMORY_MB} to ${MAX_MEMORY_MB}`,
  )
  .meta({
    description: 'MiB; 0 is the server default',
    examples: [512],
    anyOf: [{ const: 0 }, { minimum: MIN_MEMORY_MB, maximum: MAX_MEMORY_MB }],
  })

/** A CPU limit as requested. */
export const CpuLimit = z
  .number()
  .refine(
    (value) => value === 0 || (value >= MIN_CPUS && value <= MAX_CPUS),
    `must be 0 (the server default) or ${MIN_CPUS} to ${MAX_CPUS}`,
  )
  .transform((value) => Math.round(value * 100) / 100)
  .meta({
    description: 'CPUs, rounded to 0.01; 0 is the server default',
    examples: [1],
    anyOf: [{ const: 0 }, { minimum: MIN_CPUS, maximum: MAX_CPUS }],
  })
