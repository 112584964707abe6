import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { applyFile } from '#server/blueprints/apply.ts'
import { convertCompose } from '#server/blueprints/compose/convert.ts'
import { readDialect } from '#server/blueprints/dialect.ts'
import { Faults } from '#server/blueprints/faults.ts'
import { plain } from '#server/blueprints/nodes.ts'
import { readBlueprint } from '#server/blueprints/read.ts'
import { readYaml } from '#server/blueprints/yaml.ts'
import { openContext } from '../../support/context.ts'
import { readShapes } from './corpus.ts'

const OWN = { url: 'https://git.example.com/own.git', branch: null }
const DOCUMENT = join(import.meta.dirname, '../../../docs/blueprints.md')
const PLAN = { dryRun: true, keepsHandSet: false }
let close: () => Promise<void>

beforeAll(async () => {
  ;({ close } = await openContext())
})
afterAll(() => close())

describe('a render.yaml as public repositories have it', () => {
  it.each(readShapes('render.txt'))('is read: $title', ({ text, becomes, warns }) => {
    const notes = { faults: new Faults(), warnings: [] as string[] }
    const files = readDialect(readYaml(text, notes.faults), OWN, notes)
    const parts = becomes.split(/^environment .*\n/m).filter((part) => part !== '')
    expect(files.map(({ node }) => plain(node))).toEqual(parts.map((part) => parse(part) as unknown))
    expect(notes.warnings).toEqual(warns)
    const environments = [...becomes.matchAll(/^environment (.*)$/gm)].map(([, name]) => name)
    expect(files.flatMap(({ environment }) => environment ?? [])).toEqual(environments)
    notes.faults.refuse()
    const { actions } = applyFile(readBlueprint(text, { repository: OWN }), PLAN)
    expect(actions.length).toBeGreaterThan(0)
  })
})

describe('an example of the documentation', () => {
  const examples = [...readFileSync(DOCUMENT, 'utf8').matchAll(/^```yaml\n([^]*?)^```/gm)]

  it.each(examples.map(([, text]) => ({ text: text! })))(
    'is a blueprint that names its schema: $text',
    ({ text }) => {
      expect(text).toContain('# yaml-language-server: $schema=')
      const { actions } = applyFile(readBlueprint(text, {}), PLAN)
      expect(actions.every(({ action }) => action === 'create')).toBe(true)
    },
  )
})

describe('a Compose file as public repositories have it', () => {
  it.each(readShapes('compose.txt'))('is converted: $title', ({ text, becomes, warns }) => {
    const { yaml, warnings } = convertCompose(text, 'http://localhost:7878')
    expect(yaml).toBe(
      `# yaml-language-server: $schema=http://localhost:7878/api/blueprint.schema.json\n${becomes}`,
    )
    expect(warnings).toEqual(warns)
    const { actions } = applyFile(readBlueprint(yaml, {}), PLAN)
    expect(actions.every(({ action }) => action === 'create')).toBe(true)
  })
})
