import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const EXPRESS = {
  'package.json': manifest({ start: 'node server.js' }, ['express']),
  ...NPM_LOCK,
  'server.js': '',
}
const FASTAPI = { 'requirements.txt': 'fastapi\nuvicorn\n', 'main.py': 'app = FastAPI()\n' }
const withNote = (text: string): string[] =>
  expect.arrayContaining([expect.stringContaining(text) as string]) as string[]

/** Trees that say in a file for another host how they are built and started, by that host's documentation. */
export const HOST_FILES: CorpusTree[] = [
  {
    title: 'railway.json with a start command of its own, a release and a health check',
    files: {
      ...FASTAPI,
      'app/main.py': 'app = FastAPI()\n',
      'railway.json': {
        build: { builder: 'NIXPACKS' },
        deploy: {
          startCommand: 'cd app && uvicorn main:app --host 0.0.0.0 --port $PORT',
          preDeployCommand: ['python migrate.py'],
          healthcheckPath: '/health',
        },
      },
    },
    plan: {
      runtime: 'python',
      startCommand: 'cd app && uvicorn main:app --host 0.0.0.0 --port $PORT',
      preDeployCommand: 'python migrate.py',
      healthCheckPath: '/health',
      obstacle: null,
      notes: withNote('starting as railway.json says: cd app'),
    },
  },
  {
    title: 'railway.toml before a Procfile',
    files: {
      ...FASTAPI,
      Procfile: 'web: python main.py\nrelease: python release.py\n',
      'railway.toml': '[deploy]\nstartCommand = "uvicorn main:app --port $PORT --host 0.0.0.0"\n',
    },
    plan: {
      runtime: 'python',
      startCommand: 'uvicorn main:app --port $PORT --host 0.0.0.0',
      preDeployCommand: 'python release.py',
    },
  },
  {
    title: "a Procfile's line for a worker before the one command of railway.toml",
    files: {
      ...FASTAPI,
      Procfile: 'web: python main.py\nworker: python work.py\n',
      'railway.toml': '[deploy]\nstartCommand = "uvicorn main:app"\n',
    },
    settings: { processType: 'worker' },
    plan: { runtime: 'python', startCommand: 'python work.py' },
  },
  {
    title: "a service's own commands before those of railway.json",
    files: {
      ...EXPRESS,
      'railway.json': {
        build: { buildCommand: 'npm run theirs' },
        deploy: { startCommand: 'node theirs.js' },
      },
    },
    settings: { startCommand: 'node own.js', buildCommand: 'npm run own' },
    plan: { runtime: 'node', startCommand: 'node own.js', buildCommand: 'npm run own' },
  },
  {
    title: 'railway.json with the commands that are found anyway',
    files: {
      'package.json': manifest({ build: 'next build', start: 'next start' }, ['next']),
      'next.config.js': "module.exports = { output: 'standalone' }\n",
      ...NPM_LOCK,
      'railway.json': {
        build: { buildCommand: 'npm ci && npm run build' },
        deploy: { startCommand: 'npm start' },
      },
    },
    plan: {
      runtime: 'node',
      framework: 'next',
      buildCommand: 'npm run build',
      startCommand: 'node server.js',
    },
  },
  {
    title: 'railway.json that starts a development server',
    files: {
      'package.json': manifest({ start: 'react-scripts start', build: 'react-scripts build' }, [
        'react-scripts',
      ]),
      'railway.json': { deploy: { startCommand: 'npm run start' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', isSite: true, publishDirectory: 'build', startCommand: null },
  },
  {
    title: 'railway.toml with a build that installs with an option',
    files: {
      ...EXPRESS,
      'railway.toml': '[build]\nbuildCommand = "npm install --legacy-peer-deps && node make.js"\n',
    },
    plan: { runtime: 'node', buildCommand: 'node make.js', notes: withNote('building as railway.toml says') },
    dockerfile: ['ENV npm_config_legacy_peer_deps="true"'],
  },
  {
    title: "a service's build command that installs before it builds",
    files: EXPRESS,
    settings: { buildCommand: 'npm ci && npm run build' },
    plan: { runtime: 'node', buildCommand: 'npm run build' },
    without: ['npm ci && npm run build'],
  },
  {
    title: "a service's build command that brings a package manager of its own",
    files: EXPRESS,
    settings: { buildCommand: 'npm i -g pnpm && pnpm install && pnpm build' },
    plan: { runtime: 'node', buildCommand: 'npm i -g pnpm && pnpm install && pnpm build' },
  },
  {
    title: "a service's build command that enables another package manager",
    files: EXPRESS,
    settings: { buildCommand: 'corepack enable && pnpm install && pnpm build' },
    plan: { runtime: 'node', buildCommand: 'corepack enable && pnpm install && pnpm build' },
  },
  {
    title: "a service's build command that installs in a folder",
    files: EXPRESS,
    settings: { buildCommand: 'npm install --prefix=server && npm run build' },
    plan: { runtime: 'node', buildCommand: 'npm install --prefix=server && npm run build' },
  },
  {
    title: "a service's build command that installs and nothing else",
    files: {
      ...EXPRESS,
      'package.json': manifest({ start: 'node server.js', build: 'exit 1' }, ['express']),
    },
    settings: { buildCommand: 'npm install' },
    plan: { runtime: 'node', buildCommand: null },
  },
  {
    title: 'railway.json with a schedule, whose command is that of a job',
    files: {
      ...EXPRESS,
      'railway.json': { deploy: { startCommand: 'node report.js', cronSchedule: '0 8 * * *' } },
    },
    settings: { processType: 'job' },
    plan: { runtime: 'node', startCommand: 'node report.js', notes: withNote('by the schedule 0 8 * * *') },
  },
  {
    title: 'railway.json with a schedule beside a server',
    files: {
      ...EXPRESS,
      'railway.json': {
        build: { watchPatterns: ['src/**'] },
        deploy: { startCommand: 'node report.js', cronSchedule: '0 8 * * *' },
      },
    },
    plan: { runtime: 'node', startCommand: 'node server.js', notes: withNote('set watch_paths') },
  },
  {
    title: 'nixpacks.toml with phases, packages of the system, variables and versions',
    files: {
      'requirements.txt': 'flask\n',
      'nixpacks.toml': `providers = ["python"]

[variables]
FLASK_DEBUG = "0"
QUOTED = 'a "b" $c'
CHROME = "/nix/store/chromium/bin/chromium"
URL = "\${{ shop.URL }}"
PORT = "5000"

[phases.setup]
nixPkgs = ["...", "python311", "ffmpeg", "poppler_utils", "nodejs_20"]
aptPkgs = ["libgl1", "$(touch /tmp/x)"]

[phases.install]
cmds = ["pip install -r requirements.txt", "python -m nltk.downloader punkt"]

[phases.build]
cmds = [
  "cd web && ./make.sh",
  "...",
]

[start]
cmd = "gunicorn -w 4 run:app"
`,
    },
    plan: {
      runtime: 'python',
      version: '3.11',
      aptPackages: ['libgl1', 'ffmpeg', 'poppler-utils'],
      buildCommand: 'python -m nltk.downloader punkt && (cd web && ./make.sh)',
      startCommand: 'gunicorn -w 4 run:app',
      port: 5000,
    },
    dockerfile: ['ENV FLASK_DEBUG="0"', 'ENV QUOTED="a \\"b\\" \\$c"'],
    without: ['/nix/', 'shop.URL', 'touch /tmp/x'],
  },
  {
    title: 'nixpacks.toml that adds to the build that is found',
    files: {
      'package.json': manifest({ build: 'tsc', start: 'node dist/index.js' }, ['express'], ['typescript']),
      ...NPM_LOCK,
      'nixpacks.toml':
        "[phases.setup]\nnixPkgs = ['nodejs_20']\n[phases.build]\ncmds = ['...', 'npm run seed']\n",
    },
    plan: { runtime: 'node', version: '20', buildCommand: 'npm run build && npm run seed' },
  },
  {
    title: 'railpack.json with comments, steps, packages and a start command',
    files: {
      'package.json': manifest({ build: 'tsc' }, ['express'], ['typescript']),
      ...NPM_LOCK,
      'railpack.json': `{
  "$schema": "https://schema.railpack.com",
  "packages": { "node": "22", "python": "latest" },
  "buildAptPackages": ["lsb-release"],
  "steps": {
    // Beside what is found.
    "build": { "commands": ["...", { "cmd": "node after.js" }, { "src": "a", "dest": "b" }], "variables": { "HELLO": "world" } }
  },
  "deploy": { "aptPackages": ["..."], "startCommand": "node dist/main.js" }
}`,
    },
    plan: {
      runtime: 'node',
      version: '22',
      aptPackages: ['lsb-release'],
      buildCommand: 'npm run build && node after.js',
      startCommand: 'node dist/main.js',
    },
    dockerfile: ['ENV HELLO="world"'],
  },
  {
    title: 'heroku.yml with what runs, after a Procfile',
    files: {
      'go.mod': 'module example.com/shop\n',
      'main.go': 'package main\n',
      'heroku.yml':
        'build:\n  packages:\n    - graphicsmagick\nrun:\n  web: shop -v\nrelease:\n  command:\n    - ./migrate\n    - ./seed\n',
    },
    plan: {
      runtime: 'go',
      startCommand: 'shop -v',
      preDeployCommand: './migrate && ./seed',
      aptPackages: ['graphicsmagick'],
    },
  },
  {
    title: 'a Procfile before heroku.yml',
    files: {
      'go.mod': 'module example.com/shop\n',
      'main.go': 'package main\n',
      Procfile: 'web: shop\n',
      'heroku.yml': 'run:\n  web: shop -v\n',
    },
    plan: { runtime: 'go', startCommand: 'shop' },
  },
  {
    title: 'nixpacks.toml with a command that forgives',
    files: {
      ...EXPRESS,
      'nixpacks.toml': '[phases.build]\ncmds = ["npm run a", "cp b c || true", "npm run d"]\n',
    },
    plan: { runtime: 'node', buildCommand: 'npm run a && (cp b c || true) && npm run d' },
  },
  {
    title: "fly.toml of a builder's image, whose release is that of the code",
    files: {
      'package.json': manifest({ start: 'node server.js' }, ['express']),
      ...NPM_LOCK,
      'server.js': '',
      'fly.toml':
        '[build]\nbuilder = "heroku/builder:24"\n[deploy]\nrelease_command = "node migrate.js"\n[env]\nPORT = "8080"\nSITE = "https://shop.fly.dev"\n[http_service]\ninternal_port = 8080\n[[http_service.checks]]\npath = "/up"\n',
    },
    plan: {
      runtime: 'node',
      preDeployCommand: 'node migrate.js',
      port: 8080,
      healthCheckPath: '/up',
      env: [{ key: 'SITE', generate: null, why: 'fly.toml sets it for its own host' }],
    },
    without: ['fly.dev'],
  },
  {
    title: 'fly.toml of a Dockerfile that is not there, whose folders no plan makes',
    files: {
      ...EXPRESS,
      'fly.toml': '[deploy]\nrelease_command = "/app/bin/migrate"\n[processes]\napp = "/app/bin/server"\n',
    },
    plan: { runtime: 'node', startCommand: 'node server.js', preDeployCommand: null },
  },
  {
    title: 'files for other hosts that cannot be read',
    files: {
      ...EXPRESS,
      'railway.json': '{"deploy": {"startCommand": "node other.js"',
      'nixpacks.toml': '[start\ncmd = 3',
      'heroku.yml': 'run: &all [*all]\n',
      'railpack.json': '[]',
      'fly.toml': '\u0000',
    },
    plan: {
      runtime: 'node',
      startCommand: 'node server.js',
      notes: withNote('nixpacks.toml cannot be read: it is left aside'),
    },
  },
  {
    title: 'files for other hosts with values of other types',
    files: {
      ...EXPRESS,
      'railway.json': {
        build: [],
        deploy: { startCommand: ['node'], preDeployCommand: 3, healthcheckPath: 'https://x' },
      },
      'railpack.json': { steps: { build: 'x' }, deploy: null, packages: { node: {} }, buildAptPackages: 'x' },
      'nixpacks.toml': 'variables = 1\nphases = [1]\nstart = "x"\n',
      'heroku.yml': 'run:\n- web\nbuild: null\n',
      'fly.toml': 'build = 3\nservices = 4\n[env]\nA = [1]\n',
    },
    plan: { runtime: 'node', startCommand: 'node server.js', preDeployCommand: null, healthCheckPath: null },
  },
]
