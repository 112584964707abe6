import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { stringify } from 'yaml'
import { applyFile } from '#server/blueprints/apply.ts'
import { exportBlueprint } from '#server/blueprints/export.ts'
import { readBlueprint } from '#server/blueprints/read.ts'
import type { Context } from '#server/context.ts'
import { findEnvironment } from '#server/environments/store.ts'
import { openContext } from '../../support/context.ts'

const ORIGIN = 'http://localhost:7878'
const OPTIONS = { dryRun: false, keepsHandSet: false }

const text = fc
  .oneof(
    fc.string({ unit: 'grapheme', maxLength: 40 }),
    fc.constantFrom(
      '3.10',
      '010',
      'yes',
      'null',
      '~',
      '',
      ' x ',
      'a: b',
      '# c',
      '- d',
      '"',
      "it's",
      'a\nb',
      'a\n\n b\n',
      '\t',
      '1e3',
      '<<',
      '*x',
      '&x',
      '{a}',
      '[b]',
      '!t',
      '%',
      '@',
      '`',
      '\r\n',
      '\u2028',
      '{{}}',
    ),
  )
  .filter((value) => !value.includes('\0') && !value.includes('${{'))
const key = fc
  .stringMatching(/^[A-Z_][A-Z0-9_]{0,12}$/)
  .filter((name) => !name.startsWith('DEPLOYER_') && name !== 'PORT')
const variables = fc.uniqueArray(
  fc.oneof(
    fc.record({ key, value: text }),
    fc.record({ key, generate: fc.constant(true) }),
    fc.record({ key, sync: fc.constant(false) }),
  ),
  { selector: (entry) => entry.key, maxLength: 5 },
)
const command = text.filter((value) => value.trim() !== '')
const names = fc.uniqueArray(fc.stringMatching(/^[a-z][a-z0-9-]{0,10}[a-z0-9]$/), {
  minLength: 6,
  maxLength: 6,
})

const common = {
  start_command: fc.option(command, { nil: undefined }),
  memory_limit_mb: fc.constantFrom(undefined, null, 0, 16, 512),
  cpu_limit: fc.constantFrom(undefined, 0.25, 2),
  auto_deploy: fc.constantFrom(undefined, true, false),
}
const service = fc.oneof(
  fc.record({
    type: fc.constant('web_service'),
    image: fc.constant('registry.example.com/web:1'),
    port: fc.constantFrom(undefined, null, 3000),
    instances: fc.constantFrom(undefined, 0, 3),
    health_check_path: fc.constantFrom(undefined, '/healthz'),
    ...common,
  }),
  fc.record({
    type: fc.constant('background_worker'),
    repo_url: fc.constantFrom(
      'https://git.example.com/a/b.git',
      'git@git.example.com:a/b.git',
      'https://u:p%40@git.example.com/a/b.git',
    ),
    branch: fc.constantFrom(undefined, 'main', '3.10'),
    root_dir: fc.constantFrom(undefined, 'apps/x'),
    disk_mount_path: fc.constantFrom(undefined, '/data//x/'),
    ...common,
  }),
  fc.record({
    type: fc.constant('static_site'),
    repo_url: fc.constant('https://git.example.com/a/site'),
    publish_dir: fc.constantFrom(undefined, '.', 'dist'),
    build_command: fc.option(command, { nil: undefined }),
    auto_deploy: common.auto_deploy,
  }),
  fc.record({
    type: fc.constant('cron_job'),
    image: fc.constant('busybox'),
    schedule: fc.constantFrom('0 3 * * *', '*/5 * * * 1-5'),
    start_command: command,
  }),
)

const project = fc
  .record({
    names,
    services: fc.array(service, { minLength: 1, maxLength: 3 }),
    env: fc.array(variables, { minLength: 3, maxLength: 3 }),
    vars: variables,
    linked: fc.array(fc.boolean(), { minLength: 3, maxLength: 3 }),
    datastore: fc.record({
      kind: fc.constantFrom('relational', 'keyvalue'),
      memory_limit_mb: common.memory_limit_mb,
      backup_schedule: fc.constantFrom(undefined, '0 4 * * *'),
    }),
  })
  .map(({ names, services, env, vars, linked, datastore }) => ({
    env_groups: [{ name: names[0], vars }],
    datastores: [{ name: names[1], ...datastore }],
    services: services.map((fields, index) => ({
      name: names[index + 2],
      ...fields,
      env: [
        ...env[index]!.filter((entry) => entry.key !== 'TO_STORE'),
        { key: 'TO_STORE', from_datastore: { name: names[1] } },
      ],
      env_groups: linked[index] ? [names[0]] : [],
    })),
  }))

/** Undoes what one case made. */
class Undo extends Error {}

let context: Context
let close: () => Promise<void>
beforeAll(async () => {
  ;({ context, close } = await openContext())
})
afterAll(() => close())

describe('what exists', () => {
  it('exported and applied again changes nothing', () => {
    fc.assert(
      fc.property(project, fc.boolean(), (made, includesSecrets) => {
        const check = () => {
          applyFile(readBlueprint(stringify(made), {}), OPTIONS)
          const exported = exportBlueprint(findEnvironment(), includesSecrets, ORIGIN)
          const version = context.database.version()
          const { actions, deploys } = applyFile(readBlueprint(exported, {}), OPTIONS)
          expect(actions.filter(({ action }) => action !== 'unchanged')).toEqual([])
          expect(deploys).toEqual([])
          expect(context.database.version()).toBe(version)
          expect(exportBlueprint(findEnvironment(), includesSecrets, ORIGIN)).toBe(exported)
          throw new Undo()
        }
        expect(() => context.database.transaction(check)).toThrow(Undo)
      }),
    )
  })

  it('keeps names of databases and roles that new datastores may not have', () => {
    const file = { datastores: ['template1', 'none', 'pg-x'].map((name) => ({ name, kind: 'relational' })) }
    const check = () => {
      applyFile(readBlueprint(stringify(file), {}), OPTIONS)
      // As an earlier version gave them.
      context.database.run("UPDATE datastores SET database = name, username = name WHERE name <> 'pg-x'")
      const exported = exportBlueprint(findEnvironment(), false, ORIGIN)
      const { actions } = applyFile(readBlueprint(exported, {}), OPTIONS)
      expect(actions.filter(({ action }) => action !== 'unchanged')).toEqual([])
      throw new Undo()
    }
    expect(() => context.database.transaction(check)).toThrow(Undo)
  })
})
