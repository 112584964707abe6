import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { detect, EXPRESS, type Found } from './detect-client.ts'

let server: TestServer

beforeAll(async () => void (server = await startServer()))
afterAll(() => server?.stop())

it.each<Found>([
  [
    'pages as they are',
    { 'index.html': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: '.', start_command: null, build_command: null },
  ],
  [
    'pages in public/',
    { 'public/index.html': '', 'README.md': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: 'public' },
  ],
  [
    'a front end',
    {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
      'index.html': '',
    },
    '',
    { type: 'static_site', runtime: 'node', framework: 'vite', publish_dir: 'dist', start_command: null },
  ],
  [
    'a front end that is meant to be a web service',
    {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
      'index.html': '',
    },
    '?type=web_service',
    { type: 'web_service', publish_dir: 'dist', start_command: null },
  ],
  [
    'the folder that a Staticfile names',
    { Staticfile: 'root: dist\npushstate: enabled\n', 'dist/index.html': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: 'dist' },
  ],
  [
    "the folder that Heroku's static.json names",
    { 'static.json': { root: 'www/' }, 'www/index.html': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: 'www' },
  ],
  [
    'pages next to a script of their developers',
    { 'index.html': '', 'start.sh': 'npx serve' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: '.' },
  ],
  [
    'pages next to Python programs that only help to create them',
    {
      'index.html': '',
      'requirements.txt': 'requests\ndiscord.py\nfastapi\n',
      'scraper.py': 'if __name__ == "__main__":\n    pass\n',
      'src/shop/main.py': 'app = FastAPI()\n',
      'docs/conf.py': "project = 'x'\n",
    },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: '.' },
  ],
  [
    'pages next to a framework that builds none',
    { Gemfile: 'gem "sinatra"\n', 'index.html': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: '.' },
  ],
  [
    'pages next to packages of a framework that no script builds with',
    { 'package.json': { devDependencies: { '@angular/core': '*' } }, 'index.html': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: '.' },
  ],
  [
    'Java programs with a page next to them as programs',
    {
      'settings.gradle': "include 'one', 'two'\n",
      'one/build.gradle': "plugins { id 'org.springframework.boot' }\n",
      'two/build.gradle': "plugins { id 'org.springframework.boot' }\n",
      'index.html': '',
    },
    '',
    { type: 'web_service', runtime: 'java' },
  ],
  [
    'pages next to a book',
    { 'book.toml': '[book]\n', 'src/SUMMARY.md': '', 'index.html': '' },
    '',
    { type: 'static_site', runtime: 'static', publish_dir: '.' },
  ],
  [
    'the source of a framework as nothing to publish, whatever page is in it',
    {
      'package.json': {
        scripts: { build: 'shopify hydrogen build' },
        dependencies: { '@shopify/hydrogen': '^1' },
        devDependencies: { vite: '*' },
      },
      'index.html': '',
    },
    '',
    { type: 'web_service', framework: 'hydrogen', publish_dir: null },
  ],
  [
    'a server that was meant to be a site',
    EXPRESS,
    '?type=static_site',
    {
      type: 'static_site',
      notes: expect.arrayContaining([expect.stringMatching(/not a static site.*web_service/)]),
    },
  ],
])('finds %s', async (_what, files, query, found) => {
  expect(await detect(server, files, query)).toMatchObject({ status: 200, body: found })
})
