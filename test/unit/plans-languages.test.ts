import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { choosePlan, type ChosenPlan } from '../../daemon/builds/plans/index.ts'
import { NO_SETTINGS, type PlanSettings } from '../../daemon/builds/plans/plan.ts'

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'plans-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

type Files = Record<string, string | object>

async function plan(files: Files, settings: Partial<PlanSettings> = {}): Promise<ChosenPlan> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), typeof content === 'string' ? content : JSON.stringify(content))
  }
  return await choosePlan('auto', directory, { ...NO_SETTINGS, ...settings })
}

const RAILS = { Gemfile: 'gem "rails"\ngem "propshaft"\n', 'config.ru': '', 'config/application.rb': '' }
const PHOENIX = 'app: :shop, aliases: ["assets.deploy": []]\n{:phoenix, "~> 1.8"}'
const withPackage = (name: string, more: object = {}): Files => ({
  'package.json': { scripts: { build: 'x' }, dependencies: { [name]: '1' }, ...more },
})

test.each<[string, Files, image: string, build: string, start: string]>([
  [
    'Rails',
    { ...RAILS, '.ruby-version': '3.3.5\n' },
    'ruby:3.3.5-bookworm',
    'SECRET_KEY_BASE_DUMMY=1 bundle exec rails assets:precompile',
    'bundle exec rails server -b 0.0.0.0 -p $PORT',
  ],
  [
    'Rack',
    { Gemfile: 'ruby "~> 3.2"\ngem "puma"\n', 'config.ru': '' },
    'ruby:3.2-bookworm',
    'bundle install',
    'bundle exec puma -b tcp://0.0.0.0:$PORT',
  ],
  [
    'Laravel',
    {
      'composer.json': { require: { php: '~8.2.0', 'ext-intl': '*' } },
      'public/index.php': '',
      ...withPackage('vite'),
    },
    'php:8.2-apache-bookworm',
    'npm run build',
    'apache2-foreground',
  ],
  [
    'a plain index.php',
    { 'index.php': '' },
    'php:8.4-apache-bookworm',
    'DocumentRoot /app',
    'apache2-foreground',
  ],
  [
    'a crate with a lock file',
    {
      'Cargo.toml': '[package]\nname = "shop"\n',
      'Cargo.lock': '',
      'rust-toolchain.toml': 'channel = "1.85"\n',
    },
    'rust:1.85-bookworm',
    'cargo build --release --locked',
    '/app/bin/shop',
  ],
  [
    'Maven',
    { 'pom.xml': '<java.version>17</java.version>' },
    'maven:3-eclipse-temurin-17',
    'mvn -B -DskipTests package',
    'java -Dserver.port=$PORT -jar /app/server.jar',
  ],
  [
    'Gradle with its wrapper',
    { 'build.gradle.kts': '', gradlew: '' },
    'eclipse-temurin:21-jdk',
    'sh ./gradlew --no-daemon build -x test',
    'java -Dserver.port=$PORT -jar /app/server.jar',
  ],
  [
    'Phoenix',
    { 'mix.exs': PHOENIX, 'mix.lock': '' },
    'elixir:1.18-slim',
    'mix compile && mix assets.deploy && mix release --overwrite --path /app/release',
    '/app/release/bin/shop start',
  ],
  [
    'Bun',
    { 'bun.lock': '', 'package.json': { main: 'app.ts', packageManager: 'bun@1.2.3' }, 'app.ts': '' },
    'oven/bun:1.2.3',
    'bun install --frozen-lockfile',
    'bun run app.ts',
  ],
  [
    'Deno',
    { 'deno.json': { tasks: { build: 'x' } }, 'main.ts': '', '.dvmrc': '2.1.4' },
    'denoland/deno:debian-2.1.4',
    'deno task build',
    'deno run --allow-all main.ts',
  ],
  ['Next', withPackage('next'), 'node:24-bookworm-slim', 'npm run build', 'next start -H 0.0.0.0 -p $PORT'],
  [
    'Next as a standalone server',
    { ...withPackage('next'), 'next.config.mjs': "export default { output: 'standalone' }" },
    'node:24-bookworm-slim',
    'cp -r .next/static .next/standalone/.next/',
    'HOSTNAME=0.0.0.0 node .next/standalone/server.js',
  ],
  ['Nuxt', withPackage('nuxt'), 'node:', 'npm run build', 'HOST=0.0.0.0 node .output/server/index.mjs'],
  [
    'SvelteKit on node',
    withPackage('@sveltejs/kit', { devDependencies: { '@sveltejs/adapter-node': '1' } }),
    'node:',
    'npm prune',
    'node build',
  ],
  [
    'React Router',
    withPackage('@react-router/serve'),
    'node:',
    'npm run build',
    'react-router-serve ./build/server/index.js',
  ],
  [
    'Django that gathers its files',
    {
      'requirements.txt': 'gunicorn',
      'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')",
      'shop/settings.py': 'STATIC_ROOT = "x"\n',
    },
    'python:3.13-slim-bookworm',
    'python manage.py collectstatic --noinput',
    'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
  ],
])('builds and starts %s', async (_title, files, image, build, start) => {
  const { dockerfile, startCommand } = await plan(files)
  expect(dockerfile).toContain(`FROM ${image}`)
  expect(dockerfile).toContain(build)
  expect(startCommand).toBe(start)
})

describe('a site', () => {
  test.each<[string, Files, string | null]>([
    ['Vite', withPackage('vite'), 'dist'],
    [
      'Vite with a folder of its own',
      { ...withPackage('vite'), 'vite.config.ts': "outDir: './public_html'" },
      'public_html',
    ],
    ['Vite with a folder outside', { ...withPackage('vite'), 'vite.config.ts': "outDir: '../x'" }, null],
    ['Astro', withPackage('astro', { devDependencies: { vite: '1' } }), 'dist'],
    ['Create React App', withPackage('react-scripts'), 'build'],
    ['Next', withPackage('next'), 'out'],
    ['Nuxt', withPackage('nuxt'), '.output/public'],
    ['SvelteKit', withPackage('@sveltejs/kit', { devDependencies: { vite: '1' } }), 'build'],
    ['Docusaurus', withPackage('@docusaurus/core'), 'build'],
    ['Eleventy', withPackage('@11ty/eleventy'), '_site'],
    ['Gatsby', withPackage('gatsby'), 'public'],
    [
      'VitePress',
      withPackage('vitepress', { scripts: { build: 'vitepress build docs' } }),
      'docs/.vitepress/dist',
    ],
    ['Jekyll', { Gemfile: 'gem "jekyll"\n' }, '_site'],
    ['MkDocs', { 'requirements.txt': 'mkdocs', 'mkdocs.yml': '' }, 'site'],
    ['something else', { 'package.json': {} }, null],
  ])('made with %s lies in %s and needs nothing to start', async (_title, files, folder) => {
    const made = await plan(files, { processType: 'static' })
    expect(made.publishDirectory).toBe(folder)
    expect(made.dockerfile).toMatch(/USER 1000:1000\nCMD /)
  })
})

test.each<[string, Files]>([
  ['Rails', RAILS],
  ['PHP', { 'index.php': '' }],
  ['Next', withPackage('next')],
  ['FastAPI', { 'requirements.txt': 'fastapi', 'main.py': 'app = FastAPI()' }],
])('a job in a tree of %s wants to be told what to run', async (_title, files) => {
  await expect(plan(files, { processType: 'job' })).rejects.toThrow(/set start_command$/)
  expect((await plan(files, { processType: 'job', startCommand: 'tidy up' })).startCommand).toBe('tidy up')
})

test('extensions that composer.json wants are compiled with the packages they need', async () => {
  const { dockerfile } = await plan({ 'composer.json': { require: { 'ext-gd': '*' } }, 'index.php': '' })
  expect(dockerfile).toMatch(/libpng-dev.*docker-php-ext-install.* gd/)
})
