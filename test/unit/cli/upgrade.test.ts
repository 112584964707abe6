import { expect, test } from 'vitest'
import { wayOf } from '../../../cli/client/commands/upgrade.ts'

test.each([
  ['/usr/lib/node_modules/deployer-cli/deployer.mjs', 'npm'],
  ['/home/ada/.nvm/versions/node/v26.1.0/lib/node_modules/deployer-cli/deployer.mjs', 'npm'],
  ['/home/ada/.npm/_npx/0123456789abcdef/node_modules/deployer-cli/deployer.mjs', 'npx'],
  ['/home/ada/.local/share/deployer/0.1.0/deployer.mjs', 'script'],
  ['/usr/local/lib/deployer/0.1.0/server/index.mjs', 'other'],
])('a program at %s came by %s', (path, way) => {
  expect(wayOf(path)).toBe(way)
})
