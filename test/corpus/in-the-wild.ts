import { expect } from 'vitest'
import { manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const utf16 = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

/** Trees in the shape of repositories that people deploy, where they differ from examples and starters. */
export const IN_THE_WILD: CorpusTree[] = [
  {
    title: 'requirements that PowerShell wrote',
    files: {
      'requirements.txt': utf16('Flask==3.0.0\r\ngunicorn==22.0.0\r\npsycopg2==2.9.9\r\n'),
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
      Procfile: utf16('release: flask db upgrade\r\n'),
    },
    plan: {
      runtime: 'python',
      framework: 'flask',
      startCommand: 'gunicorn --bind 0.0.0.0:$PORT app:app',
      preDeployCommand: 'flask db upgrade',
    },
    dockerfile: ['libpq5'],
    without: ['pip install gunicorn'],
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
    title: 'a script that runs others beside each other, development servers',
    files: {
      'package.json': manifest(
        { start: 'run-p start:**', 'start:hugo': 'hugo server', 'start:assets': 'webpack --watch' },
        [],
        ['npm-run-all'],
      ),
      'server.js': '',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a script that runs a server and the development server of its pages',
    files: {
      'package.json': manifest(
        {
          start: 'concurrently -k "npm:server" "npm run pages"',
          server: 'node server.js',
          pages: 'vite --host',
        },
        ['express'],
        ['concurrently', 'vite'],
      ),
      'server.js': "import 'express'\n",
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'node server.js' },
  },
  {
    title: 'a script that runs two programs beside each other',
    files: {
      'package.json': manifest(
        { start: 'concurrently "node server.js" "cd worker && npm start"' },
        ['express'],
        ['concurrently'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', startCommand: 'npm start' },
  },
  {
    title: 'Qwik with the adapter for Express',
    files: {
      'package.json': manifest(
        {
          build: 'qwik build',
          'build.server': 'vite build -c adapters/express/vite.config.ts',
          start: 'vite --mode ssr',
        },
        [],
        ['@builder.io/qwik-city', 'vite', 'express'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'qwik', startCommand: 'node server/entry.express', obstacle: null },
  },
  {
    title: 'Qwik with the adapter for files alone',
    files: {
      'package.json': manifest(
        {
          build: 'qwik build',
          'build.server': 'vite build -c adapters/static/vite.config.ts',
          start: 'vite --open --mode ssr',
        },
        [],
        ['@builder.io/qwik-city', 'vite'],
      ),
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'qwik', isSite: true, publishDirectory: 'dist', singlePage: false },
  },
  {
    title: 'Qwik without an adapter',
    files: {
      'package.json': manifest({ build: 'qwik build', start: 'vite' }, [], ['@qwik.dev/router', 'vite']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      obstacle:
        'no adapter says what Qwik builds for: add one for node with "qwik add express", or for files alone with "qwik add static"',
    },
  },
  {
    title: 'Analog for files alone',
    files: {
      'package.json': manifest({ build: 'vite build' }, [], ['@analogjs/platform', '@angular/core', 'vite']),
      'vite.config.ts': 'export default { plugins: [analog({ static: true })] }\n',
      ...NPM_LOCK,
    },
    plan: { runtime: 'node', framework: 'analog', isSite: true, publishDirectory: 'dist/analog/public' },
  },
  {
    title: 'Remix for Netlify',
    files: {
      'package.json': manifest(
        { build: 'remix build', start: 'cross-env NODE_ENV=production netlify dev' },
        ['@netlify/remix-adapter', '@remix-run/react'],
        ['@remix-run/dev', '@remix-run/serve', 'cross-env'],
      ),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      obstacle: 'Remix is set up with netlify, whose output no server here runs: use @remix-run/serve',
    },
  },
  {
    title: 'lessons for Next, which are no project themselves',
    files: {
      'package.json': manifest({ start: 'next start' }, ['next']),
      'basics/package.json': manifest({ build: 'next build' }, ['next']),
      'seo/package.json': manifest({ build: 'next build' }, ['next']),
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'node',
      framework: null,
      obstacle:
        'nothing says how to start this service: add a script "start" to package.json, or a Procfile with a line "web:", or set start_command; or set root_dir to one of basics (node), seo (node)',
    },
  },
  {
    title: 'Hugo with a theme and no page yet',
    files: {
      'config.yaml': 'baseURL: https://example.com/\ntheme: blank\n',
      'themes/blank/theme.toml': '',
      'archetypes/default.md': '',
      'package.json': manifest({}, [], ['cypress']),
      ...NPM_LOCK,
    },
    plan: { runtime: 'static', framework: 'hugo', isSite: true, publishDirectory: 'public' },
  },
  {
    title: 'WordPress that Composer brings',
    files: {
      'composer.json': {
        require: { 'johnpbloch/wordpress-core-installer': '2', 'johnpbloch/wordpress-core': '6' },
      },
      'wp-config.php': '<?php\n',
    },
    plan: { runtime: 'php', framework: 'wordpress', startCommand: 'apache2-foreground' },
    dockerfile: ['/app/wordpress'],
  },
  {
    title: "Gradle with Heroku's task",
    files: {
      'build.gradle': "apply plugin: 'war'\ntask stage() {\n    dependsOn clean, war\n}\n",
      gradlew: '',
      Procfile: 'web: java -jar build/server/webapp-runner.jar build/libs/*.war\n',
    },
    plan: { runtime: 'java', buildCommand: 'sh ./gradlew --no-daemon build -x test stage' },
  },
  {
    title: 'a war for a servlet container',
    files: { 'pom.xml': '<project><packaging>war</packaging></project>' },
    plan: {
      runtime: 'java',
      startCommand: null,
      obstacle: expect.stringContaining('pom.xml builds a war, which a servlet container runs') as string,
    },
  },
  {
    title: 'a war that starts itself',
    files: { 'pom.xml': '<project><packaging>war</packaging>spring-boot-maven-plugin</project>' },
    plan: { runtime: 'java', startCommand: 'java -Dserver.port=$PORT -jar /app/server.jar', obstacle: null },
  },
  {
    title: 'a bot in the only file of Python that is a program',
    files: {
      'requirements.txt': 'python-telegram-bot==21\n',
      'rules_bot.py': 'def main():\n    pass\n\nif __name__ == "__main__":\n    main()\n',
      'components.py': '',
      'test_rules.py': 'if __name__ == "__main__":\n    pass\n',
    },
    settings: { processType: 'worker' },
    plan: { runtime: 'python', startCommand: 'python rules_bot.py', isWorker: true },
  },
  {
    title: 'a bot of Java',
    files: {
      'pom.xml':
        '<project><artifactId>bot</artifactId><dependencies>\n<artifactId>JDA</artifactId>\n</dependencies></project>',
    },
    plan: { runtime: 'java', isWorker: true },
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
    title: "a theme whose main is its tools'",
    files: { 'package.json': { ...manifest({}, [], ['gulp']), main: 'gulpfile.js' }, 'gulpfile.js': '' },
    plan: { runtime: 'node', startCommand: null },
  },
]
