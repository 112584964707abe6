import type { z } from 'zod'
import { didYouMean, looksSecret } from '../cli/suggest.ts'
import { ToolFault } from './call.ts'

/** More would not help. */
const MAX_FAULTS = 5

/** Checks the arguments of a tool. Throws `invalid_request` that begins with the field at fault, and never repeats a value. */
export function checkedArguments(schema: z.ZodObject, given: unknown): unknown {
  const read = schema.safeParse(given ?? {}, { error: inWords })
  if (read.success) return read.data
  const known = Object.keys(schema.shape)
  const faults = read.error.issues.flatMap((issue) => describe(issue, known))
  throw new ToolFault('invalid_request', faults.slice(0, MAX_FAULTS).join('; '))
}

function describe(issue: z.core.$ZodIssue, known: readonly string[]): string[] {
  const path = issue.path.map(String).join('.')
  if (issue.code !== 'unrecognized_keys') return [`${path || 'arguments'}: ${issue.message}`]
  return issue.keys.slice(0, MAX_FAULTS).map((key) => {
    if (looksSecret(key)) return 'a field is unknown'
    const hint = path === '' ? didYouMean(key, known) : ''
    return `${path === '' ? '' : `${path}.`}${key}: unknown field${hint}`
  })
}

function inWords(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'invalid_type')
    return issue.input === undefined ? 'is required' : `must be of the type ${issue.expected}`
  if (issue.code === 'invalid_value') return `must be one of ${issue.values.map(String).join(', ')}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  return undefined
}
