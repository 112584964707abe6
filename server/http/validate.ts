import type { z } from 'zod'
import { AppError } from '../errors.ts'

/** How many faults one message reports; more would not help. */
const MAX_FAULTS = 5

/**
 * Parses input from outside. Throws `invalid_request` with a message that begins with the JSON path of the invalid field and
 * reports a limited number of faults.
 */
export function validate<S extends z.ZodType>(schema: S, input: unknown, max = MAX_FAULTS): z.output<S> {
  const result = schema.safeParse(input, { error: describe })
  if (result.success) return result.data
  const faults = result.error.issues.flatMap(explain)
  throw new AppError('invalid_request', faults.slice(0, max).join('; '))
}

function explain(issue: z.core.$ZodIssue): string[] {
  const path = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    return issue.keys
      .slice(0, MAX_FAULTS)
      .map((key) => `${path === '' ? '' : `${path}.`}${key === '' ? '""' : key}: unknown field`)
  }
  return [`${path === '' ? 'body' : path}: ${issue.message}`]
}

const KINDS: Record<string, string> = {
  string: 'a string',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  array: 'an array',
  object: 'an object',
  record: 'an object',
}

/** Converts zod's issues to the API's wording. A message given in the schema wins. */
export function describe(issue: z.core.$ZodRawIssue): string | undefined {
  switch (issue.code) {
    case 'invalid_type':
      if (issue.input === undefined) return 'is required'
      return `must be ${KINDS[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.map(String).join(', ')}`
    case 'too_small':
      if (issue.origin === 'string')
        return `must have at least ${issue.minimum} character${issue.minimum === 1 ? '' : 's'}`
      return issue.origin === 'array'
        ? `must have at least ${issue.minimum} item${issue.minimum === 1 ? '' : 's'}`
        : `must be at least ${issue.minimum}`
    case 'too_big':
      if (issue.origin === 'string') return `must have at most ${issue.maximum} characters`
      return issue.origin === 'array'
        ? `must have at most ${issue.maximum} items`
        : `must be at most ${issue.maximum}`
    default:
      return undefined
  }
}
