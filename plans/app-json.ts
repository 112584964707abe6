import type { PlannedVariable } from './plan.ts'
import { isRecord, parsedJson } from './source/json.ts'
import type { Tree } from './source/tree.ts'

/** A file with more variables was not written for people to fill in. */
const MAX_VARIABLES = 50
const MAX_WHY_CHARACTERS = 200

/** The names that the API accepts, without those that the server sets. */
const NAME = /^(?!DEPLOYER_|PORT$)[A-Za-z_][A-Za-z0-9_]{0,127}$/

/**
 * Returns the variables that Heroku's `app.json` asks for: secrets to generate, and required variables without a value
 * (Heroku, "app.json Schema"). A file of that name that is not Heroku's gives none.
 */
export async function appVariables(tree: Tree): Promise<PlannedVariable[]> {
  const value = parsedJson((await tree.readHead('app.json')) ?? '')
  if (!isRecord(value) || !isRecord(value.env)) return []
  const variables: PlannedVariable[] = []
  for (const [key, entry] of Object.entries(value.env)) {
    if (!NAME.test(key) || variables.length === MAX_VARIABLES) continue
    const settings = isRecord(entry) ? entry : { value: entry }
    const isSecret = settings.generator === 'secret'
    const hasValue = typeof settings.value === 'string' && settings.value !== ''
    if (!isSecret && (hasValue || settings.required === false)) continue
    const { description } = settings
    const said = typeof description === 'string' ? plainLine(description) : 'app.json asks for it'
    variables.push({ key, generate: isSecret ? 'hex' : null, why: said })
  }
  return variables
}

/** One line for a log, whatever the file contains. */
function plainLine(text: string): string {
  return text
    .slice(0, MAX_WHY_CHARACTERS)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}
