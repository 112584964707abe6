import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { PassThrough } from 'node:stream'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { packContext } from '../../daemon/builds/context.ts'
import { NO_SETTINGS } from '../../daemon/builds/plans/plan.ts'
import { chooseRecipe } from '../../daemon/builds/choose-recipe.ts'
import { parseHeaders, parseRedirects } from '../../daemon/sites/rules.ts'
import { Glob } from '../../server/glob.ts'

/** What is quadratic takes minutes on this much, which the time limit of a test calls a hang. */
const ATTACK_BYTES = 64 * 1024

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'attack-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

const choice = {
  runtime: 'auto',
  dockerfilePath: null,
  type: null,
  publishDirectory: null,
  settings: { ...NO_SETTINGS, secretNames: ['A'] },
}

async function write(files: Record<string, string>): Promise<void> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
}

/** Runs that are tried again from each of their places, in every division, or by every reader of a value. */
const RUNS = [
  '\n',
  ' ',
  '\t',
  '\r',
  'a',
  '1',
  '"',
  "'",
  '=',
  '[',
  '(',
  '/',
  '#',
  '-',
  '|',
  '>1 ',
  '/*',
  '<!--',
  '\na',
  ' \n',
  'x:\n',
]

/** Each attack stands alone, behind the beginning of what the reader looks for, and before its end. */
function attacks(beginnings: string[]): string[] {
  return RUNS.flatMap((run) => {
    const long = run.repeat(Math.ceil(ATTACK_BYTES / run.length))
    return [long, ...beginnings.flatMap((begin) => [`${begin}${long}`, `${begin}${long}x`])]
  })
}

describe('a tree that was written to take long', () => {
  test.each<[string, string[], Record<string, string>]>([
    ['requirements.txt', ['-r', '@', 'flask'], { 'main.py': '' }],
    ['pyproject.toml', ['requires-python = "', '[tool.'], { 'main.py': '' }],
    ['.python-version', ['3.'], { 'main.py': '' }],
    ['main.py', ['app', 'app:', 'app = Flask', 'def'], { 'requirements.txt': '' }],
    ['manage.py', ['DJANGO_SETTINGS_MODULE",'], { 'requirements.txt': '' }],
    ['go.mod', ['module ', 'replace ', 'replace x =>', 'go 1.'], { 'main.go': 'package main' }],
    ['main.go', ['package main', '//go:build'], { 'go.mod': 'module x' }],
    ['Gemfile', ['gem', 'gem "', 'ruby "'], { 'config.ru': '' }],
    ['Gemfile.lock', ['RUBY VERSION', '  rails'], { Gemfile: '', 'config.ru': '' }],
    ['.ruby-version', ['3.', 'ruby-'], { Gemfile: '', 'config.ru': '' }],
    ['Procfile', ['web:', 'web: a', 'web'], { 'package.json': '{}' }],
    ['mix.exs', ['app:', 'releases: [', '{:'], {}],
    ['.tool-versions', ['elixir '], { 'mix.exs': 'app: :x' }],
    ['pom.xml', ['<java.version>'], {}],
    ['system.properties', ['java.runtime.version'], { 'pom.xml': '' }],
    ['Cargo.toml', ['[[bin]]', '[package]\nname', 'default-run'], {}],
    ['rust-toolchain', ['channel', '1.'], { 'Cargo.toml': '[package]\nname = "x"' }],
    ['composer.json', ['{"require":{"php":"'], {}],
    ['deno.json', ['{"tasks":{', '"start"'], { 'main.ts': '' }],
    ['.dvmrc', ['v1.'], { 'deno.json': '{}', 'main.ts': '' }],
    ['package.json', ['{"scripts":{"start"', '{"main":"'], {}],
    ['.nvmrc', ['>', 'v1'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    [
      'next.config.js',
      ['output', 'output:', '/*', '//', '"', '`'],
      { 'package.json': '{"dependencies":{"next":"1"}}' },
    ],
    ['vite.config.js', ['outDir', 'outDir: "'], { 'package.json': '{"dependencies":{"vite":"1"}}' }],
    ['pnpm-lock.yaml', ['lockfileVersion:'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    ['mise.toml', ['[tools]\nnode = ', '[tools]\n"'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    ['pnpm-workspace.yaml', ['packages:\n- ', 'packages:\n  - "'], { 'package.json': '{}' }],
    [
      'svelte.config.js',
      ['fallback: ', 'pages: "'],
      { 'package.json': '{"dependencies":{"@sveltejs/kit":"1"}}' },
    ],
    ['eleventy.config.js', ['output: "'], { 'package.json': '{"devDependencies":{"@11ty/eleventy":"1"}}' }],
    [
      'tsconfig.json',
      ['"outDir": "', '/*'],
      { 'package.json': '{"scripts":{"build":"tsc"}}', 'src/index.ts': '' },
    ],
    ['mkdocs.yml', ['site_dir: ', 'theme:\n  name:'], {}],
    ['_config.yml', ['theme: ', 'plugins:\n- ', 'destination: '], { '_posts/x': '' }],
    ['hugo.toml', ['publishDir = ', '"publishDir'], {}],
    ['netlify.toml', ['HUGO_VERSION = '], { 'hugo.toml': '' }],
    [
      'shop/settings.py',
      ['STATIC_ROOT', 'WSGI_APPLICATION = "'],
      {
        'manage.py': "setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')",
      },
    ],
    ['build.sbt', ['name := "', 'ThisBuild /'], { 'project/plugins.sbt': 'sbt-native-packager' }],
    ['x.csproj', ['<Project Sdk="', '<TargetFramework>', '<OutputType>', '<!--'], {}],
    ['gleam.toml', ['gleam = "', 'gleam'], {}],
    ['Aptfile', ['a', '#'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    [
      'config/routes.rb',
      ['get "up"', 'get "/up" =>'],
      {
        Gemfile: 'gem "rails"',
        'config/application.rb': '',
      },
    ],
    ['Dockerfile', ['# syntax=', '#', 'FROM x\nARG ', 'ARG'], {}],
    ['.dockerignore', ['!', '**/', '[', '*'], { Dockerfile: 'FROM x' }],
  ])('is judged at once: %s', async (name, beginnings, others) => {
    await write(others)
    for (const attack of attacks(beginnings)) {
      await write({ [name]: attack })
      // A choice or a fault, but an end.
      await chooseRecipe({ place: { directory, folder: '' }, choice }).catch((error: unknown) =>
        expect(error).toMatchObject({ name: 'BuildFailure' }),
      )
    }
  })

  test('of a range of versions with many parts is no version', async () => {
    const range = Array.from({ length: 20_000 }, (_, index) => `>${index}`).join(' ')
    await write({ 'package.json': JSON.stringify({ scripts: { start: 'x' }, engines: { node: range } }) })
    await expect(chooseRecipe({ place: { directory, folder: '' }, choice })).rejects.toMatchObject({
      name: 'BuildFailure',
    })
  })

  test.each([
    ['a pattern of 1 MiB', 'a*'.repeat(512 * 1024 - 10), /more than 1000 characters/],
    ['too many patterns', 'a\n'.repeat(2_000), /more than 1000 patterns/],
  ])('with %s in its .dockerignore is refused with the reason', async (_what, content, said) => {
    await write({ Dockerfile: 'FROM x', '.dockerignore': content })
    await expect(chooseRecipe({ place: { directory, folder: '' }, choice })).rejects.toMatchObject({
      name: 'BuildFailure',
      message: expect.stringMatching(said),
    })
  })

  test('with the worst patterns that are taken is packed', async () => {
    const patterns = Array.from({ length: 30 }, (_, index) => `**/${'*a'.repeat(100)}${index}`).join('\n')
    const files = Array.from({ length: 20 }, (_, index) => [
      `${'a'.repeat(200)}/${'a'.repeat(200)}${index}`,
      '',
    ])
    await write({ Dockerfile: 'FROM x', '.dockerignore': patterns, ...Object.fromEntries(files) })
    const output = new PassThrough()
    output.resume()
    await packContext({ root: directory, file: { kind: 'tree', path: 'Dockerfile' } }, output)
  })

  test.each(attacks(['/', '/a /', '/a\n  X:']))('whose rules of a site are a run is read', (text) => {
    parseRedirects(text)
    parseHeaders(text)
  })
})

describe('a pattern', () => {
  test.each([
    ['[a-c]', 'b', true],
    ['[^a-c]', 'b', false],
    ['[\\]]', ']', true],
    ['[a\\-c]', 'b', false],
    ['[-a]', '-', true],
    ['x[0-9]*.txt', 'x7yz.txt', true],
    ['**/a?c', 'x/y/abc', true],
    ['**', 'x/y', true],
    ['a/**/b', 'a/b', true],
    ['a/**/b', 'a/x/y/b', true],
    ['a/**/b', 'axb', false],
  ])('%s holds %s: %s', (pattern, text, matches) => {
    expect(new Glob(pattern).test(text)).toBe(matches)
  })

  test.each(['[', '[]', 'a\\', '[c-a]', '[a'])('%s cannot be read', (pattern) => {
    expect(() => new Glob(pattern)).toThrow(SyntaxError)
  })
})
