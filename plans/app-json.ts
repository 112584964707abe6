import { isRecord, parsedJson } from './json.ts'
import type { PlannedVariable } from './plan.ts'
import type { Tree } from './tree.ts'

/** More are none that a person would fill in. */
const MAX_VARIABLES = 50
const MAX_WHY_CHARACTERS = 200

/** As the API takes names of variables, without those that the server sets. */
const NAME = /^(?!DEPLOYER_|PORT$)[A-Za-z_][A-Za-z0-9_]{0,127}$/

/**
 * The variables that Heroku's `app.json` asks for: secrets that are generated, and those without a value that are not
 * optional (Heroku, "app.json Schema"). A file that is none of Heroku's names none.
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

/** A line of a log, whatever the file holds. */
function plainLine(text: string): string {
  return text
    .slice(0, MAX_WHY_CHARACTERS)
    .replaceAll(/[\s\p{Cc}]+/gu, ' ')
    .trim()
}
