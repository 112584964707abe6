import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { chooseRecipe } from '#daemon/builds/choose-recipe.ts'
import type { Recipe } from '#daemon/builds/recipe.ts'
import { NO_SETTINGS } from '#plans/index.ts'

let directory: string
beforeEach(async () => void (directory = await mkdtemp(join(tmpdir(), 'recipe-'))))
afterEach(() => rm(directory, { recursive: true, force: true }))

/** The recipe of a static site that publishes a folder. */
async function site(files: Record<string, string>, publishDirectory: string | null): Promise<Recipe> {
  return await recipe(files, 'static_site', publishDirectory)
}

async function recipe(
  files: Record<string, string>,
  type: Recipe['type'] | null,
  publishDirectory: string | null = null,
  startCommand: string | null = null,
): Promise<Recipe> {
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true })
    await writeFile(join(directory, name), content)
  }
  return await chooseRecipe({
    place: { directory, folder: '' },
    choice: {
      type,
      runtime: 'auto',
      dockerfilePath: null,
      publishDirectory,
      settings: { ...NO_SETTINGS, startCommand },
    },
  })
}

const SPHINX = { 'requirements.txt': 'sphinx\n', 'docs/conf.py': 'project = "docs"\n' }

test("documentation is built if publish_dir names the build's output, or nothing", async () => {
  expect(await site(SPHINX, null)).toMatchObject({ framework: 'sphinx', publishDirectory: 'build/html' })
  expect(await site(SPHINX, 'out')).toMatchObject({ framework: 'sphinx', publishDirectory: 'out' })
})

// Rules are read by the plans and by what publishes a folder.
test.each([
  '/ /notes.txt 200',
  '/* /app/home.html 200',
  '/ https://example.com/',
  '  /\t/about 302 # moved\r',
  '/old /new\n/ /new',
])('files without an index page are a site where a rule answers /: %j', async (rules) => {
  const { type, notes } = await recipe({ _redirects: rules, 'notes.txt': '' }, null)
  expect({ type, notes }).toEqual({ type: 'static_site', notes: ['using the files as they are'] })
})

test.each([
  '/ /index.html 200',
  '/* /',
  '/* /404.html 404',
  '/ //example.com/',
  '/ https://example.com/ 200',
  '/ /b 302 Country=de',
  '/ /b 418',
  '/ /b 302!',
  '/ /:lang',
  '/ /100%',
  '/ http://',
  '/ /a\\b',
  '# / /b',
  '/old /new',
])('files without an index page are not a site where the rules leave / open: %j', async (rules) => {
  expect(await recipe({ _redirects: rules, 'notes.txt': '' }, null)).toMatchObject({ runtime: null })
})

test("browser tools' output is built, though there is a page before", async () => {
  const files = {
    'package.json': '{"scripts": {"build": "vite build"}, "devDependencies": {"vite": "*"}}',
    'index.html': '',
    'public/index.html': '',
  }
  expect(await site(files, 'public')).toMatchObject({ runtime: 'node', buildCommand: 'npm run build' })
})

test.each<[what: string, files: Record<string, string>, folder: string]>([
  [
    'a server that its developers start',
    {
      'package.json': '{"scripts": {"dev": "node scripts/dev.mjs", "build": "node scripts/build.mjs"}}',
      'index.html': '',
      'scripts/dev.mjs': "import * as esbuild from 'esbuild'\nawait (await esbuild.context({})).serve({})\n",
      'scripts/build.mjs': '',
    },
    '.',
  ],
  [
    'the dev server of an old Vue template',
    {
      'package.json': '{"scripts": {"dev": "node build/dev-server.js", "build": "node build/build.js"}}',
      'index.html': '',
      'build/dev-server.js': "require('express')().listen(8080)\n",
      'build/build.js': '',
    },
    '.',
  ],
  [
    'a server that is restarted whenever it changes',
    {
      'package.json': '{"scripts": {"dev": "nodemon tools/show.js"}, "devDependencies": {"rollup": "*"}}',
      'public/index.html': '',
      'tools/show.js': "require('http').createServer(show).listen(8080)\n",
    },
    'public',
  ],
])('pages are a site next to %s', async (_what, files, folder) => {
  expect(await recipe(files, null)).toMatchObject({
    type: 'static_site',
    runtime: 'static',
    publishDirectory: folder,
    obstacle: null,
  })
})

const PAGE = { 'public/index.html': '' }

test.each<[what: string, files: Record<string, string>, said: string]>([
  [
    'Rack has no server',
    {
      Gemfile: "gem 'sinatra'\n",
      'config.ru': 'run App\n',
      'Gemfile.lock': 'GEM\n  specs:\n    rack (2.2.9)\n',
    },
    'bundle add puma',
  ],
  [
    'Meteor builds it',
    { 'package.json': '{"scripts": {"start": "meteor run"}}', '.meteor/release': 'METEOR@3.1\n' },
    'meteor build',
  ],
  [
    'it is exported and listens nowhere',
    {
      'package.json': '{"type": "module", "dependencies": {"express": "*"}}',
      'server.js': "import express from 'express'\nconst app = express()\nexport default app\n",
    },
    'listens on no port',
  ],
  [
    'it only has a dev server',
    {
      'package.json': '{"scripts": {"start": "node scripts/start.js", "build": "webpack"}}',
      'scripts/start.js': "const Server = require('webpack-dev-server')\n",
    },
    'starts a dev server',
  ],
])(
  'a program that cannot be started because %s does not become a site through the page next to it',
  async (_what, files, said) => {
    for (const type of ['web_service', null] as const) {
      expect(await recipe({ ...files, ...PAGE }, type)).toMatchObject({
        type: 'web_service',
        isSite: false,
        obstacle: expect.stringContaining(said) as string,
      })
    }
  },
)

test('pages next to a manifest that starts nothing are a site', async () => {
  const files = { 'package.json': '{"scripts": {"format": "prettier ."}}', ...PAGE }
  expect(await recipe(files, null)).toMatchObject({ type: 'static_site', publishDirectory: 'public' })
})

test('an existing first page is not reported as missing', async () => {
  const { obstacle } = await recipe({ 'index.html': '' }, 'web_service', null, './serve')
  expect(obstacle).toContain('no way to build this source was found')
  expect(obstacle).not.toContain('there is no index.html')
})
