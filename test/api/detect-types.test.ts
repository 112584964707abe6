import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { detect, EXPRESS, type Found } from './detect-client.ts'

let server: TestServer

beforeAll(async () => void (server = await startServer()))
afterAll(() => server?.stop())

it.each<Found>([
  [
    'a worker by its Procfile, and what runs before it goes live',
    { ...EXPRESS, Procfile: 'worker: node worker.js\nrelease: node migrate.js\n' },
    '',
    {
      type: 'background_worker',
      start_command: 'node worker.js',
      pre_deploy_command: 'node migrate.js',
    },
  ],
  [
    'a bot, which listens on no port',
    { 'requirements.txt': 'discord.py\n', 'main.py': 'import discord\n' },
    '',
    { type: 'background_worker', runtime: 'python', start_command: 'python main.py' },
  ],
  [
    'a bot that was requested as a web service',
    { 'requirements.txt': 'discord.py\n', 'main.py': 'import discord\n' },
    '?type=web_service',
    {
      type: 'web_service',
      notes: expect.arrayContaining([expect.stringContaining('change its type to background_worker')]),
    },
  ],
  [
    'a job, which has its own command',
    { 'package.json': { devDependencies: { prettier: '3' } }, 'api/go.mod': 'module x\n' },
    '?type=cron_job',
    { runtime: 'node', root_dirs: [] },
  ],
  [
    'the requested type, although it cannot be right',
    {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
      'index.html': '',
    },
    '?type=private_service',
    {
      type: 'private_service',
      notes: expect.arrayContaining([
        'this is a static site (vite builds to dist): change its type to static_site, or give a start command',
      ]),
    },
  ],
  [
    'the same for a worker',
    {
      'package.json': { scripts: { build: 'vite build' }, devDependencies: { vite: '7' } },
      'index.html': '',
    },
    '?type=background_worker',
    {
      type: 'background_worker',
      notes: expect.arrayContaining([
        'this is a static site (vite builds to dist): change its type to static_site, or give a start command',
      ]),
    },
  ],
])('finds %s', async (_what, files, query, found) => {
  expect(await detect(server, files, query)).toMatchObject({ status: 200, body: found })
})
