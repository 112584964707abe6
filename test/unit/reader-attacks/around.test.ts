import { describe } from 'vitest'
import { attackEach } from './attacks.ts'

describe('a tree whose commands, packages, pages or Dockerfile were written to take long', () => {
  attackEach([
    ['Procfile', ['web:', 'web: a', 'web'], { 'package.json': '{}' }],
    ['Aptfile', ['a', '#'], { 'package.json': '{"scripts":{"start":"x"}}' }],
    ['Dockerfile', ['# syntax=', '#', 'FROM x\nARG ', 'ARG'], {}],
    ['.dockerignore', ['!', '**/', '[', '*'], { Dockerfile: 'FROM x' }],
    ['mkdocs.yml', ['site_dir: ', 'theme:\n  name:'], {}],
    ['_config.yml', ['theme: ', 'plugins:\n- ', 'destination: '], { '_posts/x': '' }],
    ['hugo.toml', ['publishDir = ', '"publishDir'], {}],
    ['netlify.toml', ['HUGO_VERSION = '], { 'hugo.toml': '' }],
  ])
})
