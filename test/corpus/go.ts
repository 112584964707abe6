import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const MAIN = 'package main\n'
const GO_MAIN = 'package main\n\nfunc main() {}\n'

const go = (title: string, files: CorpusTree['files'], built: string | null): CorpusTree => ({
  title,
  files,
  plan: { runtime: 'go', buildCommand: built === null ? null : containing(` ${built}`) },
})

const programs = (names: string[]): CorpusTree['files'] =>
  Object.fromEntries(names.map((name) => [`cmd/${name}/main.go`, GO_MAIN]))

const TWELVE = [...'abcdefghijk', 'server']

/** A module that names tools for its developers, and has its program deeper than where one is looked for. */
const TOOLED = {
  'go.mod': 'module example.com/shop\n\ngo 1.24\n\ntool (\n\texample.com/gen\n)\n',
  'services/api/main.go': GO_MAIN,
}

/** Programs of Go. */
export const GO: CorpusTree[] = [
  {
    title: 'Go with Gin',
    files: {
      'go.mod': 'module example.com/shop\n\ngo 1.24\n\nrequire github.com/gin-gonic/gin v1.10.0\n',
      'go.sum': '',
      'main.go': MAIN,
    },
    plan: {
      runtime: 'go',
      version: '1.24',
      framework: 'gin',
      buildCommand: 'go build -trimpath -o /app/bin/server .',
      startCommand: '/app/bin/server',
      installCommand: null,
    },
    dockerfile: ['GOTOOLCHAIN=auto', 'FROM debian:bookworm-slim'],
  },
  {
    title: 'Go with its program below cmd/',
    files: {
      'go.mod': 'module example.com/shop\n\ngo 1.21\n\ntoolchain go1.26.1\n',
      'cmd/server/main.go': MAIN,
      'cmd/tool/main.go': MAIN,
    },
    plan: {
      runtime: 'go',
      version: '1.26',
      buildCommand: 'go build -trimpath -o /app/bin/server ./cmd/server',
    },
  },
  {
    title: 'Go with several programs',
    files: { 'go.mod': 'module x\n', 'cmd/a/main.go': MAIN, 'cmd/b/main.go': MAIN },
    plan: { runtime: 'go', startCommand: null },
  },
  {
    title: 'a workspace of Go without a module in the root',
    files: {
      'go.work': 'go 1.24\n\nuse (\n\t./api\n\t./shared\n)\n',
      'api/go.mod': 'module example.com/api\n',
      'api/main.go': MAIN,
      'shared/go.mod': 'module example.com/shared\n',
      'shared/shared.go': 'package shared\n',
    },
    plan: {
      runtime: 'go',
      version: '1.24',
      buildCommand: 'go build -trimpath -o /app/bin/server ./api',
      startCommand: '/app/bin/server',
    },
  },
  {
    title: 'a program of Go beside a site of Hugo',
    files: { 'go.mod': 'module x\n', 'hugo.toml': '', 'cmd/server/main.go': MAIN },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'packages of Go that a comment tells Heroku to install',
    files: {
      'go.mod': 'module example.com/shop\n\n// +heroku install ./tools/... ./cmd/web\n',
      'main.go': MAIN,
      Procfile: 'web: web\n',
    },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/ ./tools/... ./cmd/web' },
  },
  {
    title: 'a program of Go without a module',
    files: { 'main.go': MAIN },
    plan: {
      runtime: 'go',
      buildCommand: 'go mod init app && go mod tidy && go build -trimpath -o /app/bin/server .',
      installCommand: null,
    },
  },
  {
    title: 'a generated file of Go that is too large to be read whole',
    files: { 'go.mod': 'module x\n', 'assets.go': `package main\n//${'x'.repeat(5 * 1024 * 1024)}\n` },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a bot of Go with a web server beside it',
    files: {
      'go.mod':
        'module x\n\nrequire (\n\tgithub.com/bwmarrin/discordgo v0.28.1\n\tgithub.com/go-chi/chi/v5 v5.1.0\n)\n',
      'main.go': 'package main\n',
    },
    plan: { runtime: 'go', isWorker: false },
  },
  {
    title: 'a bot of Go',
    files: {
      'go.mod': 'module x\n\nrequire github.com/bwmarrin/discordgo v0.28.1\n',
      'main.go': 'package main\n',
    },
    plan: { runtime: 'go', isWorker: true },
  },
  {
    title: 'a server of Go that tells a bot as well, without a package to serve',
    files: {
      'go.mod': 'module x\n\nrequire github.com/bwmarrin/discordgo v0.28.1\n',
      'main.go': 'package main\n',
      'internal/web/serve.go': 'package web\n\nfunc Serve() {\n\thttp.ListenAndServe(":8080", nil)\n}\n',
    },
    plan: { runtime: 'go', isWorker: false },
  },
  {
    title: 'a program of Go whose packages want those of a bot',
    files: {
      'go.mod': 'module x\n\nrequire (\n\tgithub.com/bwmarrin/discordgo v0.28.1 // indirect\n)\n',
      'main.go': 'package main\n',
    },
    plan: { runtime: 'go', isWorker: false },
  },
  {
    title: 'a program of Go with tools, beside a list of packages for Python',
    files: {
      'go.mod': 'module shop\n\ntool example.com/gen\n',
      'main.go': GO_MAIN,
      'requirements.txt': 'pytest\n',
    },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a library of Go without tools, beside a list of packages for Python',
    files: { 'go.mod': 'module shop\n', 'shop.go': 'package shop\n', 'requirements.txt': 'pytest\n' },
    plan: { runtime: 'go', startCommand: null },
  },
  go(
    'programs of a workspace of Go in folders of one name',
    {
      'go.work': 'go 1.24\nuse ./api\nuse ./worker\n',
      'api/cmd/main.go': GO_MAIN,
      'worker/cmd/main.go': GO_MAIN,
    },
    './api/cmd',
  ),
  go(
    'programs of a workspace of Go of which none stands out',
    {
      'go.work': 'go 1.24\nuse ./front\nuse ./back\n',
      'front/cmd/server/main.go': GO_MAIN,
      'back/cmd/server/main.go': GO_MAIN,
    },
    null,
  ),
  go(
    'a server in Go beside the folder of a tool',
    {
      'go.work': 'go 1.24\nuse ./backend\nuse ./cli\n',
      'backend/main.go': GO_MAIN,
      'cli/cmd/main.go': GO_MAIN,
    },
    './backend',
  ),
  go(
    'a program in Go beside a file that generates others',
    {
      'go.mod': 'module example.com/shop\n',
      'cmd/foo/main.go': GO_MAIN,
      'cmd/gen.go': `// +build ignore\n\n${GO_MAIN}`,
    },
    './cmd/foo',
  ),
  go(
    'a module of Go with nothing but the program of its migrations',
    { 'go.mod': 'module example.com/shop\n', 'migrations/main.go': GO_MAIN, 'wasm/main.go': GO_MAIN },
    null,
  ),
  go(
    'twelve programs of Go, one of which is the server',
    { 'go.mod': 'module shop\n', ...programs(TWELVE) },
    './cmd/server',
  ),
  {
    title: 'twelve programs of Go, whose server is named',
    files: { 'go.mod': 'module shop\n', ...programs(TWELVE) },
    settings: { startCommand: '/app/bin/server' },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/server ./cmd/server' },
  },
  {
    title: 'programs of Go that a comment names, started by the usual name',
    files: {
      'go.mod': '// +heroku install ./services/...\nmodule shop\n',
      'services/server/main.go': GO_MAIN,
      Procfile: 'web: bin/server\n',
    },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/ ./services/...' },
  },
  {
    title: 'a module of Go with tools whose own command builds a program deeper in it',
    files: { ...TOOLED, 'start.sh': '#!/bin/sh\n' },
    settings: { buildCommand: 'go build -o bin/api ./services/api', startCommand: 'bin/api' },
    plan: { runtime: 'go', startCommand: 'bin/api', obstacle: null },
  },
  {
    title: 'a module of Go with tools and packages of its own, beside styles',
    files: {
      ...TOOLED,
      'go.mod': `${TOOLED['go.mod']}\nrequire (\n\tgithub.com/go-chi/chi/v5 v5.1.0\n)\n`,
      'package.json': manifest({ build: 'tailwindcss -o app.css' }, ['tailwindcss']),
      ...NPM_LOCK,
    },
    settings: { buildCommand: 'go build -o bin/api ./services/api', startCommand: 'bin/api' },
    plan: { runtime: 'go', startCommand: 'bin/api', obstacle: null },
  },
  {
    title: 'a workspace of Go whose root has tools, beside styles',
    files: {
      'go.work': 'go 1.24\nuse ./api\n',
      'go.mod': TOOLED['go.mod'],
      'api/main.go': GO_MAIN,
      'package.json': manifest({ build: 'tailwindcss -o app.css' }, ['tailwindcss']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'go', startCommand: '/app/bin/server' },
  },
  {
    title: 'a module of Go with tools whose comment names its programs, beside styles',
    files: {
      ...TOOLED,
      'go.mod': `// +heroku install ./services/...\n${TOOLED['go.mod']}`,
      Procfile: 'web: bin/api\n',
      'package.json': manifest({ build: 'tailwindcss -o app.css' }, ['tailwindcss']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'go', startCommand: 'bin/api', buildCommand: containing('./services/...') },
  },
  {
    title: 'a program of Go that lies in cmd/ itself',
    files: {
      'go.mod': 'module gojo\n',
      'cmd/main.go': 'package main\n',
      'internal/app/app.go': 'package app\n',
    },
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/server ./cmd',
      startCommand: '/app/bin/server',
    },
  },
  {
    title: 'a program of Go in the only folder that has one',
    files: {
      'go.mod': 'module shop\n',
      'src/main.go': 'package main\n',
      'examples/main.go': 'package main\n',
      'store/store.go': 'package store\n',
    },
    plan: { runtime: 'go', buildCommand: 'go build -trimpath -o /app/bin/server ./src' },
  },
  {
    title: 'a library of Go with a tool that is a module of its own',
    files: {
      'go.mod': 'module lib\n',
      'lib.go': 'package lib\n',
      'generate/go.mod': 'module lib/generate\n',
      'generate/main.go': 'package main\n',
    },
    plan: { runtime: 'go', startCommand: null, obstacle: containing('there is no package main') },
  },
]
