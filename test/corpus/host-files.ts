import { expect } from 'vitest'
import { containing, manifest, noted, NPM_LOCK, type CorpusTree } from './tree.ts'

const EXPRESS = {
  'package.json': manifest({ start: 'node server.js' }, ['express']),
  ...NPM_LOCK,
  'server.js': '',
}

const FASTAPI = { 'requirements.txt': 'fastapi\nuvicorn\n', 'main.py': 'app = FastAPI()\n' }
const HTTP = "require('http').createServer(answer).listen(process.env.PORT)\n"

const symfony = (packages: string[], more: CorpusTree['files'] = {}): CorpusTree['files'] => ({
  'composer.json': { require: Object.fromEntries(packages.map((name) => [name, '*'])) },
  'public/index.php': '<?php\n',
  ...more,
})

/** Trees that say in a file for another host how they are built and started, according to that host's documentation. */
export const HOST_FILES: CorpusTree[] = [
  {
    title: "variables that Heroku's app.json asks for",
    files: {
      'requirements.txt': 'flask\n',
      'app.py': 'app = Flask(__name__)\n',
      'app.json': {
        env: {
          SECRET: { generator: 'secret' },
          TOKEN: { description: 'of\nyour\u001b account' },
          COLOUR: { value: 'green' },
          MORE: { required: false },
          PLAIN: 'x',
          'not a name': {},
          DEPLOYER_TOKEN: { generator: 'secret' },
          PORT: { generator: 'secret' },
        },
      },
    },
    plan: {
      runtime: 'python',
      env: [
        { key: 'SECRET', generate: 'hex', why: 'app.json asks for it' },
        { key: 'TOKEN', generate: null, why: 'of your account' },
      ],
    },
  },
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
      notes: noted('starting as railway.json says: cd app'),
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
      'railway.json': { deploy: { startCommand: 'npx react-scripts start' } },
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      isSite: true,
      publishDirectory: 'build',
      startCommand: null,
      notes: noted('it is not used, because it is a dev server'),
    },
  },
  {
    title: 'railway.toml with a build that installs with an option',
    files: {
      ...EXPRESS,
      'railway.toml': '[build]\nbuildCommand = "npm install --legacy-peer-deps && node make.js"\n',
    },
    plan: { runtime: 'node', buildCommand: 'node make.js', notes: noted('building as railway.toml says') },
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
    plan: { runtime: 'node', startCommand: 'node report.js', notes: noted('on the schedule 0 8 * * *') },
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
    plan: { runtime: 'node', startCommand: 'node server.js', notes: noted('set watch_paths') },
  },
  {
    title: 'nixpacks.toml with phases, packages of the system, variables and versions',
    files: {
      'requirements.txt': 'flask\ngunicorn\n',
      'web/make.sh': '#!/bin/sh\n',
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
      'package.json': manifest(
        { build: 'tsc', start: 'node dist/index.js', after: 'node after.js' },
        ['express'],
        ['typescript'],
      ),
      ...NPM_LOCK,
      'nixpacks.toml':
        "[phases.setup]\nnixPkgs = ['nodejs_20']\n[phases.build]\ncmds = ['...', 'npm run after']\n",
    },
    plan: { runtime: 'node', buildCommand: 'npm run build && npm run after' },
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
    // In addition to what is found.
    "build": { "commands": ["...", { "cmd": "node after.js" }, { "src": "a", "dest": "b" }], "variables": { "HELLO": "world" } }
  },
  "deploy": { "aptPackages": ["..."], "startCommand": "node dist/main.js" }
}`,
    },
    plan: {
      runtime: 'node',
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
        'build:\n  packages:\n    - graphicsmagick\nrun:\n  web: shop -v\nrelease:\n  command:\n    - shop migrate\n    - shop seed\n',
    },
    plan: {
      runtime: 'go',
      startCommand: 'shop -v',
      preDeployCommand: 'shop migrate && shop seed',
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
      'package.json': manifest({ start: 'node server.js', a: 'node a.js', d: 'node d.js' }, ['express']),
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
      notes: expect.arrayContaining(
        ['railway.json', 'railpack.json', 'nixpacks.toml', 'heroku.yml', 'fly.toml'].map(
          (file) => `${file} cannot be read and is not used`,
        ),
      ) as string[],
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
  {
    title: 'railway.json that builds a program in Java, without a start',
    files: {
      'pom.xml': '<project><artifactId>shop</artifactId></project>',
      'railway.json': { build: { buildCommand: ['./mvnw -DskipTests package'] } },
    },
    plan: { runtime: 'java', obstacle: null, notes: noted('the plan for java knows what it builds') },
    without: ['./mvnw'],
  },
  {
    title: 'railway.json that builds a program in Rust into another folder',
    files: {
      'Cargo.toml': '[package]\nname = "shop"\n',
      'src/main.rs': 'fn main() {}\n',
      'railway.json': {
        build: { buildCommand: 'cargo build' },
        deploy: { startCommand: './target/debug/shop' },
      },
    },
    plan: { runtime: 'rust', startCommand: '/app/bin/shop', obstacle: null },
  },
  {
    title: 'railway.json that starts what its own host built of a program in Go',
    files: {
      'go.mod': 'module example.com/shop\n',
      'main.go': 'package main\n',
      'railway.json': { build: { buildCommand: 'go build -o out .' }, deploy: { startCommand: './out' } },
    },
    plan: { runtime: 'go', startCommand: '/app/bin/server', obstacle: null },
  },
  {
    title: 'railway.json that publishes a program of .NET',
    files: {
      'shop.csproj': '<Project Sdk="Microsoft.NET.Sdk.Web"></Project>',
      'railway.json': { build: { buildCommand: 'dotnet publish -o out' } },
    },
    plan: { runtime: 'dotnet', obstacle: null, notes: noted('the plan for dotnet knows') },
  },
  {
    title: 'nixpacks.toml that serves a site with a program of Nix',
    files: {
      'package.json': manifest({ build: 'vite build', dev: 'vite' }, [], ['vite']),
      'index.html': '',
      ...NPM_LOCK,
      'nixpacks.toml':
        "[phases.setup]\nnixPkgs = ['nodejs_22', 'caddy']\n[phases.caddy]\ndependsOn = ['setup']\ncmds = ['caddy fmt --overwrite Caddyfile']\n[start]\ncmd = 'exec caddy run --config Caddyfile'\n",
    },
    plan: { runtime: 'node', isSite: true, startCommand: null, buildCommand: 'npm run build' },
  },
  {
    title: 'railway.json that serves a site with a package fetched at its start',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'index.html': '',
      ...NPM_LOCK,
      'railway.json': { deploy: { startCommand: 'npx serve -s dist -l $PORT' } },
    },
    plan: { runtime: 'node', isSite: true, startCommand: null, notes: noted('it only serves files') },
  },
  {
    title: 'railway.json that builds a front end with a program that the image lacks',
    files: {
      ...FASTAPI,
      'frontend/package.json': manifest({ build: 'vite build' }),
      'railway.json': { build: { buildCommand: 'cd frontend && npm ci && npm run build' } },
    },
    plan: { runtime: 'python', buildCommand: null, notes: noted('the image has no npm') },
  },
  {
    title: "nixpacks.toml with the start of Nixpacks' own image of PHP",
    files: {
      'index.php': '<?php\n',
      'nixpacks.toml':
        "[start]\ncmd = 'node /assets/scripts/prestart.mjs /assets/nginx.template.conf /nginx.conf && (php-fpm -y /assets/php-fpm.conf & nginx -c /nginx.conf)'\n",
    },
    plan: { runtime: 'php', startCommand: 'apache2-foreground', obstacle: null },
  },
  {
    title: 'railway.json that starts a development server of PHP',
    files: {
      'index.php': '<?php\n',
      'railway.json': { deploy: { startCommand: 'php -S 0.0.0.0:$PORT' } },
    },
    plan: { runtime: 'php', startCommand: 'apache2-foreground', notes: noted('it is a dev server') },
  },
  {
    title: 'railway.json that starts a development server of Python',
    files: {
      ...FASTAPI,
      'requirements.txt': 'flask\n',
      'main.py': 'app = Flask(__name__)\n',
      'railway.json': { deploy: { startCommand: 'flask run --host 0.0.0.0 --port $PORT' } },
    },
    plan: { runtime: 'python', framework: 'flask', notes: noted('it is a dev server') },
  },
  {
    title: 'railway.json in the root of a workspace with one program',
    files: {
      'package.json': manifest({}, [], [], { workspaces: ['apps/*'] }),
      'apps/api/package.json': manifest(
        { build: 'tsc', start: 'node dist/index.js' },
        ['express'],
        ['typescript'],
        { name: 'api' },
      ),
      ...NPM_LOCK,
      'railway.json': {
        build: { buildCommand: 'npm run build --workspaces' },
        deploy: { startCommand: 'node apps/api/dist/index.js' },
      },
    },
    plan: {
      runtime: 'node',
      startCommand: 'node dist/index.js',
      notes: noted('building apps/api, the only program of the workspace'),
    },
  },
  {
    title: "nixpacks.toml with Nixpacks' idiom for an environment",
    files: {
      ...FASTAPI,
      'nixpacks.toml':
        "[phases.install]\ncmds = ['python -m venv --copies /opt/venv && . /opt/venv/bin/activate && pip install --no-cache-dir -r requirements.txt']\n",
    },
    plan: { runtime: 'python', buildCommand: null },
    without: ['--copies'],
  },
  {
    title: 'nixpacks.toml that installs with an option, and packages of Ubuntu',
    files: {
      ...EXPRESS,
      'nixpacks.toml':
        "[variables]\nNODE_ENV = 'production'\n[phases.setup]\naptPkgs = ['ffmpeg', 'libjpeg-turbo8', 'libicu70']\n[phases.install]\ncmds = ['npm ci --legacy-peer-deps']\n",
    },
    plan: { runtime: 'node', aptPackages: ['ffmpeg'], notes: noted('libjpeg-turbo8, libicu70') },
    dockerfile: ['ENV npm_config_legacy_peer_deps="true"'],
    without: ['ENV NODE_ENV="production"'],
  },
  {
    title: 'nixpacks.toml with an older version than package.json wants',
    files: {
      ...EXPRESS,
      'package.json': manifest({ start: 'node server.js' }, ['express'], [], { engines: { node: '>=22' } }),
      'nixpacks.toml': "[phases.setup]\nnixPkgs = ['nodejs_16', 'ruby_2_5', 'python27']\n",
    },
    plan: { runtime: 'node', obstacle: null, notes: noted('nodejs_16') },
    without: ['node:16'],
  },
  {
    title: "railway.json that starts a framework's server, which the standalone build does not have",
    files: {
      'package.json': manifest({ build: 'next build' }, ['next']),
      'next.config.js': "module.exports = { output: 'standalone' }\n",
      ...NPM_LOCK,
      'railway.json': { deploy: { startCommand: 'next start -p $PORT' } },
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'railway.json with a build that reaches for a database, and a variable that two files name',
    files: {
      ...EXPRESS,
      'app.json': { env: { SITE: { required: true } } },
      'fly.toml': '[build]\nbuilder = "heroku/builder:24"\n[env]\nSITE = "https://shop.fly.dev"\n',
      'railway.json': { build: { buildCommand: 'npx prisma migrate deploy && node make.js # all' } },
    },
    plan: {
      runtime: 'node',
      buildCommand: null,
      env: [{ key: 'SITE', generate: null, why: 'app.json asks for it' }],
    },
  },
  ...(['go', 'rust', 'node', 'django'] as const).map((language): CorpusTree => ({
    title: `a list of commands for another host that is empty, of ${language}`,
    files: {
      'nixpacks.toml': '[phases.build]\ncmds = []\n',
      ...{
        go: { 'go.mod': 'module x\n\ngo 1.24\n', 'main.go': 'package main\nfunc main() {}\n' },
        rust: { 'Cargo.toml': '[package]\nname = "x"\n', 'src/main.rs': '' },
        node: {
          'package.json': manifest({ build: 'next build', start: 'next start' }, ['next', 'react']),
          ...NPM_LOCK,
        },
        django: {
          'requirements.txt': 'django\ngunicorn\n',
          'manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "m.settings")\n',
          'm/settings.py': 'STATIC_ROOT = "static"\n',
          'm/wsgi.py': '',
        },
      }[language],
    },
    plan: {
      runtime: language === 'django' ? 'python' : language,
      buildCommand: containing(
        { go: 'go build', rust: 'cargo', node: 'build', django: 'collectstatic' }[language],
      ),
    },
  })),
  {
    title: 'npm in commands for an image of node with pnpm',
    files: {
      'package.json': manifest({ 'start:api': 'node api.js' }),
      'pnpm-lock.yaml': 'lockfileVersion: "9.0"\n',
      'railway.json': { deploy: { startCommand: 'npm run start:api -- --all' } },
    },
    plan: { runtime: 'node', startCommand: 'npm run start:api -- --all' },
  },
  {
    title: 'arguments of a script that another package manager runs',
    files: {
      'package.json': manifest({ 'start:api': 'node api.js' }),
      'railway.json': { deploy: { startCommand: 'pnpm start:api --all' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm run start:api -- --all' },
  },
  {
    title: 'a build for Nixpacks that copies assets of its own',
    files: {
      'composer.json': { require: {} },
      'public/index.php': '',
      'nixpacks.toml': '[phases.build]\ncmds = ["cp -r assets/ public/assets/"]\n',
    },
    plan: { runtime: 'php', buildCommand: 'cp -r assets/ public/assets/' },
  },
  {
    title: 'a start of Railway that serves a folder of that name',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'server.js': HTTP,
      'railway.json': { deploy: { startCommand: 'node server.js --static /assets/' } },
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js --static /assets/' },
  },
  {
    title: 'a build for Nixpacks that makes the folder of its assets itself',
    files: {
      'composer.json': { require: {} },
      'public/index.php': '',
      'nixpacks.toml': '[phases.build]\ncmds = ["mkdir -p /assets/ && cp -r x /assets/"]\n',
    },
    plan: { runtime: 'php', buildCommand: 'mkdir -p /assets/ && cp -r x /assets/' },
  },
  {
    title: 'a file of CapRover with the lines of a Dockerfile',
    files: {
      'package.json': manifest({ start: 'node server.js' }),
      'captain-definition': { schemaVersion: 2, dockerfileLines: ['FROM node:16', 'CMD ["npm", "start"]'] },
    },
    plan: {
      runtime: 'node',
      startCommand: 'node server.js',
      notes: expect.arrayContaining([
        containing('captain-definition contains the lines of a Dockerfile, which are not used'),
      ]) as string[],
    },
  },
  {
    title: 'a file for Nixpacks whose build copies its static assets',
    files: {
      ...symfony(['laravel/framework'], { artisan: '' }),
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'nixpacks.toml':
        '[phases.build]\ncmds = ["mkdir -p /etc/conf.d", "cp /assets/worker.conf /etc/conf.d/", "..."]\n[start]\ncmd = "/assets/start.sh"\n',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'php',
      buildCommand: 'npm run build',
      startCommand: 'apache2-foreground',
      notes: noted('the image has no /assets'),
    },
  },
]
