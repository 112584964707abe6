import { describe } from 'vitest'
import { attackEach } from './attacks.ts'

describe('a tree of JavaScript or TypeScript that was written to take long', () => {
  attackEach([
    ['package.json', ['{"scripts":{"start"', '{"main":"'], {}],
    ['.nvmrc', ['>', 'v1'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    ['deno.json', ['{"tasks":{', '"start"'], { 'main.ts': '' }],
    ['.dvmrc', ['v1.'], { 'deno.json': '{}', 'main.ts': '' }],
    [
      'next.config.js',
      ['output', 'output:', '/*', '//', '"', '`'],
      { 'package.json': '{"dependencies":{"next":"1"}}' },
    ],
    ['vite.config.js', ['outDir', 'outDir: "'], { 'package.json': '{"dependencies":{"vite":"1"}}' }],
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
    ['pnpm-lock.yaml', ['lockfileVersion:'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    [
      'pnpm-workspace.yaml',
      ['packages:\n- ', 'packages:\n  - "', 'packages: [', 'packages: &a [*a, ', 'packages:\n- {'],
      { 'package.json': '{}' },
    ],
    [
      'index.js',
      [
        'require(',
        '// require(',
        'import(/*',
        '// import("',
        "from '",
        '} from "',
        'import type ',
        'import ',
      ],
      {
        'package.json': '{"scripts":{"start":"node ."},"dependencies":{"a":"1"},"devDependencies":{"b":"1"}}',
      },
    ],
    [
      'p/a/package.json',
      ['{"exports":{"', '{"exports":', '{"name":"a","exports":{"./*":"'],
      {
        'package.json': '{"workspaces":["p/*"],"scripts":{"start":"node ."},"devDependencies":{"b":"1"}}',
        'index.js': "require('a/x')",
      },
    ],
    ['mise.toml', ['[tools]\nnode = ', '[tools]\n"'], { 'package.json': '{"scripts":{"start":"x"}}' }],
  ])
})
