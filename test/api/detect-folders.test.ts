import { afterAll, beforeAll, expect, it } from 'vitest'
import { startServer, type TestServer } from '../support/server.ts'
import { detect, EXPRESS, type Found } from './detect-client.ts'

let server: TestServer

beforeAll(async () => void (server = await startServer()))
afterAll(() => server?.stop())

it.each<Found>([
  [
    'folders that could be meant, including pages',
    { 'api/go.mod': 'module x\n', 'site/index.html': '' },
    '',
    {
      runtime: null,
      root_dirs: ['api', 'site'],
      notes: [expect.stringContaining('set root_dir to one of api (go), site (static)')],
    },
  ],
  [
    'folders below one for programs, from the root of the source',
    {
      'README.md': '',
      'shop/apps/web/index.html': '',
      'shop/apps/api/go.mod': 'module x\n',
      'shop/docs/a.md': '',
    },
    '?root_dir=shop',
    { runtime: null, root_dirs: ['shop/apps/api', 'shop/apps/web'] },
  ],
  [
    'programs before libraries, documentation and third-party code',
    {
      'README.md': '',
      'apps/web/index.html': '',
      'docs/requirements.txt': 'sphinx\n',
      'node_modules/x/package.json': { name: 'x' },
      'packages/api/package.json': { scripts: { start: 'node a.js' } },
      'packages/ui/package.json': { name: 'ui' },
      'vendor/x/go.mod': 'module x\n',
    },
    '',
    { runtime: null, root_dirs: ['apps/web', 'packages/api'] },
  ],
  [
    'folders two levels down, if there are none above',
    { 'README.md': '', 'team/shop/composer.json': {}, 'team/shop/public/index.php': '' },
    '',
    { runtime: null, root_dirs: ['team/shop'] },
  ],
  [
    'folders next to others that contain programs a level below',
    {
      'web/package.json': EXPRESS['package.json'],
      'python/api/main.py': '',
      'python/docs/main.py': '',
      'tests/unit/main.py': '',
    },
    '',
    { runtime: null, root_dirs: ['web', 'python/api'] },
  ],
  [
    'programs of a workspace that could be meant',
    {
      'package.json': { workspaces: ['apps/*'] },
      'apps/a/package.json': { name: 'a', scripts: { start: 'node a.js' } },
      'apps/b/package.json': { name: 'b', scripts: { start: 'node b.js' } },
    },
    '',
    { runtime: 'node', root_dirs: ['apps/a', 'apps/b'], start_command: null },
  ],
  [
    'nothing',
    { 'README.md': '' },
    '',
    {
      type: 'web_service',
      runtime: null,
      notes: [expect.stringContaining('no way to build this source was found')],
    },
  ],
])('finds %s', async (_what, files, query, found) => {
  expect(await detect(server, files, query)).toMatchObject({ status: 200, body: found })
})
