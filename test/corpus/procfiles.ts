import { manifest, noted, NPM_LOCK, type CorpusTree } from './tree.ts'

const MAIN = 'package main\n'
const EXPRESS = "const app = require('express')()\napp.listen(process.env.PORT)\n"

const node = (title: string, files: CorpusTree['files'], startCommand: string): CorpusTree => ({
  title,
  files: { ...files, ...NPM_LOCK },
  plan: { runtime: 'node', startCommand, obstacle: null, isSite: false },
})

/** Files next to a page that a line of a Procfile serves with Python. */
const SERVED_BY_PYTHON: [beside: string, files: CorpusTree['files'], settings?: CorpusTree['settings']][] = [
  ['nothing', {}],
  ['a program', { 'main.py': '' }],
  ['a program with a build', { 'main.py': '' }, { buildCommand: 'python main.py' }],
  ['Flask', { 'requirements.txt': 'flask\n', 'app.py': 'app = Flask(__name__)\n' }],
]

const PAGE = { 'index.html': '<script src="game.js"></script>' }

/** Trees whose Procfile says what runs. */
export const PROCFILES: CorpusTree[] = [
  {
    title: 'a line of a Procfile that names a program of Go by its module',
    files: {
      'go.mod': 'module example.com/team/shop/v2\n\ngo 1.25\n',
      'main.go': MAIN,
      Procfile: 'web: shop\n',
    },
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/ .',
      startCommand: 'shop',
    },
    dockerfile: ['ENV PATH=/app/bin:$PATH'],
  },
  {
    title: 'lines of a Procfile for several programs of Go',
    files: {
      'go.mod': 'module example.com/shop\n',
      'cmd/web/main.go': MAIN,
      'cmd/worker/main.go': MAIN,
      Procfile: 'web: bin/web\nworker: bin/worker\n',
    },
    settings: { processType: 'worker' },
    plan: {
      runtime: 'go',
      buildCommand: 'go build -trimpath -o /app/bin/ ./cmd/web ./cmd/worker',
      startCommand: 'bin/worker',
      obstacle: null,
    },
  },
  {
    title: 'a line of a Procfile that runs mix',
    files: {
      'mix.exs': 'def project, do: [app: :shop]\ndefp deps, do: [\n  {:phoenix, "~> 1.7"}\n]\n',
      'mix.lock': '',
      Procfile: 'web: mix phx.server\n',
    },
    plan: { runtime: 'elixir', framework: 'phoenix', startCommand: 'mix phx.server' },
    dockerfile: [
      'COPY --from=build --chown=1000:1000 /opt/mix /opt/mix',
      'PHX_SERVER=true MIX_HOME=/opt/mix',
    ],
  },
  {
    title: 'a program in Python that only a Procfile names',
    files: { 'web.py': '', Procfile: 'web: python3 web.py\n' },
    plan: { runtime: 'python', startCommand: 'python3 web.py' },
  },
  {
    title: 'a Procfile with one line of a name of its own',
    files: { 'requirements.txt': 'discord.py\n', Procfile: 'release: x\nbot: python dbot.py\n' },
    plan: { runtime: 'python', startCommand: 'python dbot.py' },
  },
  {
    title: 'a Procfile whose only line runs beside a server',
    files: {
      'requirements.txt': 'flask\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
      Procfile: 'release: x\nclock: python clock.py\n',
    },
    plan: { runtime: 'python', startCommand: 'gunicorn --bind 0.0.0.0:$PORT app:app' },
  },
  {
    title: 'a Procfile whose only line runs beside pages',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'index.html': '',
      Procfile: 'postdeploy: node seed.js\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', isSite: true, startCommand: null },
  },
  {
    title: 'a Procfile whose only line is that of a worker of another name, beside pages',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['vite']),
      'index.html': '',
      Procfile: 'clock: node clock.js\n',
      ...NPM_LOCK,
    },
    settings: { processType: 'worker' },
    plan: { runtime: 'node', startCommand: 'node clock.js' },
  },
  {
    title: 'a Procfile whose only line is of another name, for a cron job',
    files: { 'requirements.txt': '', Procfile: 'console: python manage.py shell\n' },
    settings: { processType: 'job' },
    plan: {
      runtime: 'python',
      startCommand: null,
      obstacle: 'nothing says what this job runs: set start_command',
    },
  },
  {
    title: 'a Procfile with several lines of names of their own',
    files: { 'requirements.txt': '', 'main.py': '', Procfile: 'api: python api.py\nbot: python bot.py\n' },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: "Python's server of files in a folder that a build makes",
    files: {
      'requirements.txt': 'markdown\n',
      'index.html': '',
      Procfile: 'web: python -m http.server $PORT --directory out\n',
    },
    plan: { runtime: 'python', startCommand: 'python -m http.server $PORT --directory out' },
  },
  {
    title: "Python's server of files where no page lies",
    files: { 'requirements.txt': 'markdown\n', 'a.md': '', Procfile: 'web: python -m http.server $PORT\n' },
    plan: { runtime: 'python', startCommand: 'python -m http.server $PORT' },
  },
  {
    title: 'a program that serves its page by a Python that no image has',
    files: {
      'index.html': '',
      'package.json': manifest({ start: 'node server.js' }),
      'server.js': '',
      Procfile: 'web: python -m http.server $PORT\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js', obstacle: null },
  },
  node(
    'a server whose Procfile gives it a variable, beside an application of Dart',
    {
      'package.json': manifest({}, ['express']),
      'server.js': EXPRESS,
      'pubspec.yaml': 'name: shop\n',
      Procfile: 'web: NODE_ENV=production node server.js\n',
    },
    'NODE_ENV=production node server.js',
  ),
  ...SERVED_BY_PYTHON.map(([beside, files, settings]): CorpusTree => ({
    title: `a page that Python serves by its Procfile, beside ${beside}`,
    files: { 'index.html': '', Procfile: 'web: python -m http.server $PORT\n', ...files },
    settings,
    plan: { runtime: 'python', startCommand: 'python -m http.server $PORT', obstacle: null },
  })),
  {
    title: 'a page that a Python of Debian serves by its Procfile, beside tools of node',
    files: {
      'index.html': '',
      Procfile: 'web: python3 -m http.server $PORT\n',
      Aptfile: 'python3\n',
      'package.json': manifest({}, [], ['grunt']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'python3 -m http.server $PORT' },
  },
  {
    title: 'a server of Python whose Procfile says so, with pages whose script is for their developers',
    files: {
      'package.json': manifest({ start: 'vite', build: 'vite build' }, ['react'], ['vite']),
      'index.html': '',
      Pipfile:
        '[packages]\nflask = "*"\ngunicorn = "*"\n\n[scripts]\nupgrade="flask db upgrade"\nodd="sh -c \'x\'"\n',
      'src/wsgi.py': '',
      Procfile: 'release: pipenv run upgrade\nweb: gunicorn wsgi --chdir ./src/\n',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'python',
      buildCommand: 'npm run build',
      startCommand: 'gunicorn wsgi --chdir ./src/',
      preDeployCommand: 'pipenv run upgrade',
      isSite: false,
    },
    dockerfile: ['upgrade) shift; set -- flask db upgrade "$@";;', '> /opt/venv/bin/pipenv'],
    without: ['odd)'],
  },
  {
    title: 'a game whose Procfile serves its files by Python 2',
    files: {
      ...PAGE,
      'package.json': manifest({}, [], ['grunt']),
      Procfile: 'web: python -m SimpleHTTPServer $PORT\n',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      startCommand: null,
      isRefused: false,
      notes: noted('with a Python that the image does not have'),
    },
  },
]
