import { sentence } from '../api/plain-text.ts'

/** The errors in what was sent: by field, and the rest. */
export interface Faults {
  fields: Record<string, string>
  rest: string | null
}

/** An error names its field first: `port: must be ...`, `env.0: key must ...`. */
const FAULT = /^([a-z_]+)((?:\.\w+)*): (.+)$/s
const BETWEEN_FAULTS = /; (?=[a-z_]+(?:\.\w+)*: )/

/**
 * Splits a refusal into errors. An error about none of the `shown` fields goes to the rest, with the name of its field
 * where that helps.
 */
export function faultsOf(message: string, shown: readonly string[]): Faults {
  const fields: Record<string, string> = {}
  const rest: string[] = []
  for (const fault of message.split(BETWEEN_FAULTS)) {
    const [, field, , text] = FAULT.exec(fault) ?? []
    if (field === undefined) rest.push(sentence(fault))
    else if (shown.includes(field)) fields[field] ??= sentence(text!)
    else rest.push(field === 'body' ? sentence(text!) : `${fieldName(field)}: ${text}`)
  }
  return { fields, rest: rest.length === 0 ? null : rest.join('\n') }
}

/** `health_check_path` as a label: "Health check path". */
export function fieldName(field: string): string {
  return sentence(field.replaceAll('_', ' '))
}
