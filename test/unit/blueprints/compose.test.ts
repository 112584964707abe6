import * as fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { parse, stringify } from 'yaml'
import { applyFile } from '#server/blueprints/apply.ts'
import { convertCompose, type Converted } from '#server/blueprints/compose/convert.ts'
import { interpolate } from '#server/blueprints/compose/interpolation.ts'
import { readBlueprint } from '#server/blueprints/read.ts'
import { openContext } from '../../support/context.ts'
import { runs } from '../../support/runs.ts'

let close: () => Promise<void>

beforeAll(async () => {
  ;({ close } = await openContext())
})
afterAll(() => close())

describe('interpolation', () => {
  it.each([
    ['$$HOME', '$HOME', []],
    ['${A:-x}', 'x', []],
    ['${A-}', '', []],
    ['${A:-${B:-c}}d', 'cd', []],
    ['${A:-$B}', '\uE000', ['B']],
    ['${A:?needs ${B}}', '\uE000', ['A']],
    ['${A:+${B}}x', 'x', []],
    ['$A-${B}', '\uE000-\uE000', ['A', 'B']],
    ['${A:-open', '${A:-open', []],
    ['{"a": 1} $1 ${}', '{"a": 1} $1 ${}', []],
  ])('reads %s', (written, marked, missing) => {
    expect(interpolate(written)).toEqual({ marked, missing })
  })

  it('takes a time that grows with the text, however its braces are nested', () => {
    const began = performance.now()
    for (const text of ['${A:-$B', '${A:-', '${A:?$B}', '}']) interpolate(text.repeat(100_000))
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})

/** Values that must appear in the output or in a warning. */
const WORD = fc.stringMatching(/^[a-z]{6,9}$/)
const SCALAR = fc.oneof(
  WORD,
  WORD.map((word) => `\${${word.toUpperCase()}:-${word}}`),
)
/** Sizes, and their value in megabytes; less than 16 is not enough memory to start in. */
const SIZES = { '512m': '512', '1g': '1024', '4k': '16' }
/** Other texts that are written in another form. */
const COUNTERPARTS: Record<string, string> = { ...SIZES, '.': 'docker', 'valkey/valkey': 'keyvalue' }
const TRUE = fc.constant(true)
const some = <T>(item: fc.Arbitrary<T>) => fc.array(item, { minLength: 1, maxLength: 2 })
const PORT = fc.integer({ min: 1, max: 9_999 })

const service = fc.record(
  {
    image: fc.oneof(WORD, fc.constantFrom('postgres:17', 'redis:8', 'mysql', 'valkey/valkey')),
    build: fc.oneof(
      fc.constant('.'),
      fc.record(
        { context: WORD, dockerfile: WORD, target: WORD, args: fc.dictionary(WORD, SCALAR, { maxKeys: 2 }) },
        { requiredKeys: [] },
      ),
    ),
    command: fc.oneof(
      SCALAR,
      fc.array(SCALAR, { minLength: 1, maxLength: 3 }),
      WORD.map((word) => `--${word}`),
    ),
    entrypoint: fc.array(SCALAR, { minLength: 1, maxLength: 2 }),
    ports: fc.array(
      fc.oneof(
        PORT,
        fc.tuple(PORT, PORT).map(([out, inside]) => `${out}:${inside}`),
        fc.record(
          {
            target: PORT,
            published: fc.oneof(PORT, fc.constant('8000-8010')),
            protocol: fc.constantFrom('tcp', 'udp'),
            host_ip: fc.constantFrom('127.0.0.1', '0.0.0.0', '10.0.0.2'),
            mode: WORD,
            name: WORD,
            app_protocol: WORD,
          },
          { requiredKeys: ['target'] },
        ),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    expose: fc.array(PORT.map(String), { minLength: 1, maxLength: 2 }),
    environment: fc.dictionary(
      fc.oneof(
        WORD.map((word) => word.toUpperCase()),
        fc.constantFrom('DB_HOST', 'DB_PORT', 'DB_PASSWORD', 'POSTGRES_PASSWORD', 'POSTGRES_DB', 'a.b'),
      ),
      fc.oneof(
        SCALAR,
        fc.constantFrom('one', 'secret', 'My-Db', null, '${OUTSIDE}', '1234'),
        fc.constantFrom('postgres://one:secret@two:5432/x?y=z', 'host=one password=secret dbname=My-Db'),
      ),
      { maxKeys: 4 },
    ),
    volumes: fc.array(
      fc.oneof(
        fc.tuple(WORD, WORD).map(([name, path]) => `${name}:/${path}`),
        WORD.map((path) => `shared:/${path}`),
        WORD.map((path) => `./${path}:/${path}`),
        fc.record(
          {
            type: fc.constantFrom('volume', 'bind', 'tmpfs'),
            source: WORD,
            target: WORD.map((path) => `/${path}`),
            read_only: TRUE,
            volume: fc.record({ subpath: WORD }),
            consistency: WORD,
          },
          { requiredKeys: ['type', 'source', 'target'] },
        ),
      ),
      { minLength: 1, maxLength: 3 },
    ),
    depends_on: fc.oneof(
      fc.subarray(['one', 'two', 'my_three'], { minLength: 1 }),
      fc.record({ two: fc.record({ condition: fc.constant('service_completed_successfully') }) }),
    ),
    deploy: fc.record(
      {
        replicas: fc.integer({ min: 0, max: 5 }),
        restart_policy: fc.record({ condition: fc.constantFrom('none', 'any') }),
        labels: fc.dictionary(WORD, WORD, { minKeys: 1, maxKeys: 2 }),
        resources: fc.record({
          limits: fc.record({ memory: fc.constantFrom(...Object.keys(SIZES)), pids: PORT }),
          reservations: fc.record({ memory: WORD }),
        }),
      },
      { requiredKeys: [] },
    ),
    healthcheck: fc.record(
      {
        test: fc.oneof(
          SCALAR,
          WORD.map((path) => `curl http://localhost/${path}`),
          WORD.map((path) => ['CMD-SHELL', `curl -f localhost:80/${path} || exit 1`]),
          WORD.map((path) => ['CMD', 'wget', `http://one:\${OUTSIDE}/${path}`]),
        ),
        interval: WORD,
        disable: TRUE,
      },
      { requiredKeys: [] },
    ),
    networks: fc.oneof(
      some(WORD),
      fc.dictionary(WORD, fc.record({ aliases: some(WORD) }), { minKeys: 1, maxKeys: 2 }),
    ),
    labels: fc.oneof(some(WORD), fc.dictionary(WORD, WORD, { minKeys: 1, maxKeys: 2 })),
    ulimits: fc.record({ nofile: fc.record({ soft: PORT }) }),
    tmpfs: WORD,
    privileged: TRUE,
    secrets: some(fc.oneof(WORD, fc.record({ source: WORD, target: WORD }))),
    env_file: fc.oneof(WORD, some(fc.record({ path: WORD, required: TRUE }))),
    logging: fc.record({ driver: WORD }),
    restart: fc.constantFrom('no', 'always', 'unless-stopped'),
    stop_grace_period: WORD,
    stop_signal: WORD,
    platform: WORD,
    user: WORD,
    working_dir: WORD,
    mem_limit: fc.constantFrom(...Object.keys(SIZES)),
    container_name: WORD,
  },
  { requiredKeys: [] },
)
const file = fc.record({
  one: service,
  two: service,
  my_three: fc
    .tuple(service, fc.option(fc.constant({ extends: 'one' }), { nil: {} }))
    .map(([own, more]) => ({ ...own, ...more })),
})

/** The fields of a file that have no counterpart and that no warning names. */
function lost(compose: Record<string, object>, { yaml, warnings }: Converted): string[] {
  const output = JSON.stringify(parse(yaml) ?? {})
  const isTold = (path: string) =>
    warnings.some((warning) => {
      const told = /^line \d+: ([^:]+):/.exec(warning)?.[1] ?? ''
      const isAbove = path === told || path.startsWith(`${told}.`) || path.startsWith(`${told}[`)
      // A service that is left out is reported at its name.
      const isService = told.split('.').length === 2
      return isAbove && (!isService || /left out|becomes the pre_deploy/.test(warning))
    })
  const isReference = (path: string) => output.includes(`"key":"${path.split('.').at(-1)}","from_datastore"`)
  return leavesOf(compose, 'services').flatMap(([path, value]) =>
    isTold(path) || isReference(path) || output.includes(value) ? [] : [`${path}: ${value}`],
  )
}

/** What says how other values are meant. */
const KINDS = /\.(?:protocol|type|extends)$|\.test\[[01]\]$/

function leavesOf(value: unknown, path: string): [string, string][] {
  if (Array.isArray(value)) return value.flatMap((item, at) => leavesOf(item, `${path}[${at}]`))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, held]) => leavesOf(held, `${path}.${key}`))
  if (KINDS.test(path) && !String(value).includes('localhost')) return []
  const text = COUNTERPARTS[String(value)] ?? String(value)
  // What represents the leaf in the output: the path of a probe, a default, or the end of an address, a port or a mount.
  const probed = /localhost[:\d]*\/(\w+)/.exec(text)?.[1]
  return [[path, probed ?? /:-(\w+)\}$/.exec(text)?.[1] ?? text.split(':').at(-1)!]]
}

describe('every field of a Compose file', () => {
  it('is in the blueprint or in a warning that names it, and the blueprint applies', () => {
    fc.assert(
      fc.property(file, (services) => {
        const converted = convertCompose(stringify({ services }), 'http://localhost')
        expect(lost(services, converted)).toEqual([])
        const { actions } = applyFile(readBlueprint(converted.yaml, {}), {
          dryRun: true,
          keepsHandSet: false,
        })
        expect(actions.every(({ action }) => action === 'create')).toBe(true)
      }),
      { numRuns: runs(150) },
    )
  })
})
