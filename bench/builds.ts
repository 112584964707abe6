// How long a build takes after a one-line change, beside the same Dockerfile given to the engine by hand; and the image.
import { createWriteStream } from 'node:fs'
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { execFile } from 'node:child_process'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import { packContext } from '../daemon/builds/context.ts'
import { choosePlan } from '../daemon/builds/plans/index.ts'
import { NO_SETTINGS } from '../daemon/builds/plans/plan.ts'
import { commit, createRepository, startGitHttp } from '../test/stand/git.ts'
import type { TestServer } from '../test/support/server.ts'
import { formatMib, median, withServer } from './lib/stand.ts'

const ROUNDS = 5
const run = promisify(execFile)

type Files = Record<string, string>

/** A small program, with the one file that changes from round to round. */
interface Application {
  files: Files
  change: (round: string) => Files
}

const express = (text: string): string =>
  `import express from 'express'\nexpress().get('/', (_, response) => response.send('${text}')).listen(Number(process.env.PORT))\n`

const APPLICATIONS: Record<string, Application> = {
  express: {
    files: {
      'package.json': JSON.stringify({
        type: 'module',
        scripts: { start: 'node index.js' },
        dependencies: { express: '5' },
      }),
    },
    change: (round) => ({ 'index.js': express(round) }),
  },
  'a TypeScript server': {
    files: {
      'package.json': JSON.stringify({
        type: 'module',
        scripts: { build: 'tsc', start: 'node dist/index.js' },
        dependencies: { express: '5' },
        devDependencies: { typescript: '5', '@types/node': '24', '@types/express': '5' },
      }),
      'tsconfig.json': JSON.stringify({
        compilerOptions: {
          outDir: 'dist',
          rootDir: 'src',
          module: 'nodenext',
          target: 'es2022',
          strict: true,
        },
      }),
    },
    change: (round) => ({ 'src/index.ts': express(round) }),
  },
  Next: {
    files: {
      'package.json': JSON.stringify({
        scripts: { build: 'next build', start: 'next start' },
        dependencies: { next: '15', react: '19', 'react-dom': '19' },
      }),
      'app/layout.js': 'export default ({ children }) => <html lang="en"><body>{children}</body></html>\n',
    },
    change: (round) => ({ 'app/page.js': `export default () => <h1>${round}</h1>\n` }),
  },
  // The stand has no registry of Python's packages, so Debian's own are what pip finds.
  Django: {
    files: {
      Aptfile: 'python3-django\n',
      'requirements.txt': 'django\ngunicorn\n',
      'manage.py': `import os
from django.core.management import execute_from_command_line
import sys
os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')
execute_from_command_line(sys.argv)
`,
      'shop/__init__.py': '',
      'shop/settings.py': `SECRET_KEY = 'of a measurement'
ALLOWED_HOSTS = ['*']
ROOT_URLCONF = 'shop.urls'
INSTALLED_APPS = ['django.contrib.' + name for name in ('admin', 'auth', 'contenttypes', 'staticfiles')]
STATIC_URL = '/static/'
STATIC_ROOT = 'static'
WSGI_APPLICATION = 'shop.wsgi.application'
`,
      'shop/wsgi.py': `import os
from django.core.wsgi import get_wsgi_application
os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')
application = get_wsgi_application()
`,
    },
    change: (round) => ({
      'shop/urls.py': `from django.http import HttpResponse
from django.urls import path
urlpatterns = [path('', lambda request: HttpResponse('${round}'))]
`,
    }),
  },
  'Flask with gunicorn': {
    files: { 'requirements.txt': 'flask\ngunicorn\n' },
    change: (round) => ({
      'app.py': `from flask import Flask\napp = Flask(__name__)\n\n@app.get('/')\ndef hello():\n    return '${round}'\n`,
    }),
  },
}

await withServer(async (server, dockerHost) => {
  const remote = await startGitHttp()
  for (const [name, application] of Object.entries(APPLICATIONS)) {
    const repository = await createRepository({ ...application.files, ...application.change('first') })
    const slug = name.toLowerCase().replaceAll(/[^a-z]+/g, '-')
    const service = { name: slug, repo_url: remote.url(repository) }
    const { body } = await server.api('POST', '/services', service)
    await buildTime(server, body.latest_deploy.id)
    await handMade(dockerHost, application, 'first')
    const ours: number[] = []
    const byHand: number[] = []
    for (let round = 0; round < ROUNDS; round++) {
      await commit(repository, application.change(`server ${round}`), `round ${round}`)
      const deploy = await server.api('POST', `/services/${slug}/deploys`)
      ours.push(await buildTime(server, deploy.body.id))
      byHand.push(await handMade(dockerHost, application, `hand ${round}`))
    }
    const size = await run('docker', [
      '-H',
      dockerHost,
      'image',
      'inspect',
      '-f',
      '{{.Size}}',
      'deployer-bench',
    ])
    const ratio = (median(ours) / median(byHand)).toFixed(2)
    console.log(
      `${name}: ${median(ours).toFixed(0)} ms, by hand ${median(byHand).toFixed(0)} ms (ratio ${ratio}; aim: at most 1.15); image ${formatMib(Number(size.stdout))}`,
    )
  }
  await remote.close()
})

/** From the start of a deploy until its image is there: the clone, the choice of the plan, the build. */
async function buildTime(server: TestServer, id: string): Promise<number> {
  let began = 0
  for (;;) {
    const { body: deploy } = await server.api('GET', `/deploys/${id}`)
    if (/failed|canceled/.test(deploy.status)) throw new Error(`${deploy.status}: ${deploy.error}`)
    if (began === 0 && deploy.status === 'building') began = performance.now()
    if (began !== 0 && deploy.status !== 'building') {
      const took = performance.now() - began
      while ((await server.api('GET', `/deploys/${id}`)).body.status === 'deploying') await delay(5)
      return took
    }
    await delay(5)
  }
}

/** The same Dockerfile and context, given to the engine's BuildKit as its own client does. */
async function handMade(dockerHost: string, { files, change }: Application, text: string): Promise<number> {
  const folder = await mkdtemp(join(tmpdir(), 'deployer-bench-'))
  const tree = join(folder, 'tree')
  for (const [name, content] of Object.entries({ ...files, ...change(text) })) {
    await mkdir(dirname(join(tree, name)), { recursive: true })
    await writeFile(join(tree, name), content)
  }
  const plan = await choosePlan('auto', tree, { ...NO_SETTINGS, cacheScope: 'bench' })
  const context = join(folder, 'context.tar')
  const { dockerfile: content, ignore, manifests } = plan
  const began = performance.now()
  await packContext(
    { root: tree, file: { kind: 'plan', content, ignore, manifests } },
    createWriteStream(context),
  )
  await run('curl', [
    '-sf',
    '--unix-socket',
    dockerHost.slice('unix://'.length),
    '-H',
    'content-type: application/x-tar',
    '--data-binary',
    `@${context}`,
    'http://engine/build?version=2&t=deployer-bench',
  ])
  const took = performance.now() - began
  await rm(folder, { recursive: true, force: true })
  return took
}
