import { z } from 'zod'

const TRUE = ['true', '1', 'yes', 'on', 'y', '']
const FALSE = ['false', '0', 'no', 'off', 'n']

/** A boolean in a query string: true for `true`, `1`, `yes`, `on`, `y` or the bare name; false when absent. */
export const QueryBoolean = z
  .string()
  .optional()
  .transform((text, context) => {
    if (text === undefined || FALSE.includes(text.toLowerCase())) return false
    if (TRUE.includes(text.toLowerCase())) return true
    context.issues.push({
      code: 'custom',
      input: text,
      message: 'must be true, 1, yes, on, y, false, 0, no, off or n',
    })
    return z.NEVER
  })
  .meta({ override: { type: 'boolean', default: false } })

/** `environment` for a path with the name of a service or a datastore: its id or name; production when absent. */
export const InEnvironment = z.strictObject({
  environment: z
    .string()
    .min(1)
    .optional()
    .meta({ description: 'Id or name of the environment; production when absent', examples: ['production'] }),
})

/**
 * `limit` of a list: `fallback` when absent, clamped to 1..`maximum`. The schema declares no bounds, because clients would
 * enforce them. Anything but a whole number is refused.
 */
export function clampedLimit(fallback: number, maximum: number) {
  return z
    .string()
    .regex(/^-?\d+$/, 'must be a whole number')
    .optional()
    .transform((text) => (text === undefined ? fallback : Math.min(maximum, Math.max(1, Number(text)))))
    .meta({
      description: `Maximum number of entries, newest first; clamped to 1..${maximum}`,
      override: { type: 'integer', default: fallback },
    })
}

/** `limit` of the lists of deploys and jobs. */
export const ListLimit = clampedLimit(20, 500)

/** More lines than any log has. */
const MAX_TAIL = 999_999_999

/** `tail` of a log: how many recent lines to send first; `fallback` when absent. */
export function LogTail(fallback: number) {
  return z
    .string()
    .regex(/^\d+$/, 'must be a whole number, 0 or more')
    .optional()
    .transform((text) => (text === undefined ? fallback : Math.min(MAX_TAIL, Number(text))))
    .meta({ override: { type: 'integer', minimum: 0, default: fallback } })
}
