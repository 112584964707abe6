import { problemText } from '../api/client.ts'
import { faultsOf } from '../form/faults.ts'

/** Why variables were refused, without the position in the request, which the user did not write. */
export function refusalText(error: unknown): string {
  const text = problemText(error)
  const { fields, rest } = faultsOf(text.charAt(0).toLowerCase() + text.slice(1), ['set', 'unset', 'vars'])
  return [...Object.values(fields), ...(rest === null ? [] : [rest])].join('\n')
}
