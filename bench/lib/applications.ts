// Small programs to build, in the languages whose packages the test stand has.
/** File contents by path. */
export type Files = Record<string, string>

/** A small program, with the one file that changes in each round. */
export interface Application {
  files: Files
  change: (round: string) => Files
}

const express = (text: string): string =>
  `import express from 'express'\nexpress().get('/', (_, response) => response.send('${text}')).listen(Number(process.env.PORT))\n`

/** Compiles `src` to `dist`. */
export const TSCONFIG = JSON.stringify({
  compilerOptions: { outDir: 'dist', rootDir: 'src', module: 'nodenext', target: 'es2022', strict: true },
})

/**
 * Applications by what they are built with. Rails and Laravel are missing, because the test stand has no registry of gems or
 * of Composer packages. Debian's Rails 6.1 and Laravel 8 cannot be installed from here: Bundler with a path of its own does
 * not see the system's gems, and Debian's packages contain no gem archives and no composer.json. Made-up files for either
 * would only measure themselves.
 */
export const APPLICATIONS: Record<string, Application> = {
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
      'tsconfig.json': TSCONFIG,
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
  // The stand has no registry of Python packages, so pip uses Debian's own.
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
  'Ruby without gems': {
    files: { Gemfile: 'source "https://rubygems.org"\n', Procfile: 'web: bundle exec ruby server.rb\n' },
    change: (round) => ({
      'server.rb': `require 'socket'
server = TCPServer.new('0.0.0.0', ENV.fetch('PORT'))
loop do
  client = server.accept
  client.gets
  client.write "HTTP/1.1 200 OK\\r\\nConnection: close\\r\\n\\r\\n${round}"
  client.close
end
`,
    }),
  },
  'PHP without packages': {
    files: {},
    change: (round) => ({ 'public/index.php': `<?php echo "${round}";\n` }),
  },
}
