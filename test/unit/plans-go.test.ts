import { describe, expect, test } from 'vitest'
import { plan, type Files } from './plan-of.ts'

describe('the go plan', () => {
  const main = 'package main\n'

  test.each<[string, string, string]>([
    ['its line', 'module x\n\ngo 1.22\n', '1.22'],
    ['its line with a patch', 'module x\n\ngo 1.23.4\n', '1.23'],
    ['the toolchain', 'module x\n\ngo 1.21\n\ntoolchain go1.24.1\n', '1.24'],
    ['the current one for old modules', 'module x\n\ngo 1.13\n', '1.25'],
    ['the current one without a line', 'module x\n', '1.25'],
  ])('reads the version from %s', async (_title, module, version) => {
    expect((await plan({ 'go.mod': module, 'main.go': main })).dockerfile).toContain(
      `FROM golang:${version}-bookworm AS build`,
    )
  })

  test.each<[string, Files, string]>([
    ['in the root', { 'x.go': main, 'cmd/a/main.go': main }, ' .\n'],
    ['below cmd/', { 'lib.go': 'package lib', 'cmd/a/main.go': main }, ' ./cmd/a\n'],
    ['with the name of the module', { 'cmd/a/main.go': main, 'cmd/hello/main.go': main }, ' ./cmd/hello\n'],
    ['with a usual name', { 'cmd/a/main.go': main, 'cmd/server/main.go': main }, ' ./cmd/server\n'],
  ])('builds the program %s', async (_title, files, said) => {
    const { dockerfile, startCommand } = await plan({ 'go.mod': 'module example.com/hello/v2\n', ...files })
    expect(dockerfile).toContain(`go build -trimpath -o /app/bin/server${said}`)
    expect(startCommand).toBe('/app/bin/server')
  })

  test('says which programs there are when it cannot choose, and that there is none', async () => {
    const several = await plan({ 'go.mod': 'module x\n', 'cmd/a/m.go': main, 'cmd/b/m.go': main })
    expect(several.obstacle).toContain('(./cmd/a, ./cmd/b)')
    const none = await plan({ 'go.mod': 'module x\n', 'lib.go': 'package lib', 'lib_test.go': main })
    expect(none.obstacle).toContain('no package main')
  })

  test('is used on request for a module that only names tools', async () => {
    const files = { 'go.mod': 'module x\n\ntool example.com/gen\n', 'requirements.txt': 'flask\n' }
    const { name, obstacle } = await plan(files, {}, 'go')
    expect({ name, obstacle }).toMatchObject({
      name: 'go',
      obstacle: expect.stringContaining('no package main') as string,
    })
  })

  test('needs a start command next to a build command', async () => {
    const { obstacle } = await plan({ 'go.mod': 'module x\n' }, { buildCommand: 'make' })
    expect(obstacle).toContain('set start_command')
  })
})
