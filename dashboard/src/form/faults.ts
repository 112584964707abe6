import { sentence } from '../api/plain-text.ts'

/** What is wrong with what was sent: at its fields, and the rest. */
export interface Faults {
  fields: Record<string, string>
  rest: string | null
}

/** A fault names its field first: `port: must be ...`, `env.0: key must ...`. */
const FAULT = /^([a-z_]+)((?:\.\w+)*): (.+)$/s
const BETWEEN_FAULTS = /; (?=[a-z_]+(?:\.\w+)*: )/

/**
 * Takes a refusal apart. What names none of the `shown` fields is said in words of its own, with the field's name where
 * that helps.
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

/** `health_check_path` as people read it. */
export function fieldName(field: string): string {
  return sentence(field.replaceAll('_', ' '))
}
