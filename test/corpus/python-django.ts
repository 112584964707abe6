import { containing, manifest, NPM_LOCK, type CorpusTree } from './tree.ts'

const MANAGE = (module: string) => `os.environ.setdefault('DJANGO_SETTINGS_MODULE', '${module}')\n`

const program = (framework: string | null, startCommand: string, buildCommand: string | null = null) => ({
  runtime: 'python',
  framework,
  startCommand,
  buildCommand,
  isSite: false,
  obstacle: null,
})

const djangoWithFlask = (manage: string): CorpusTree['files'] => ({
  'requirements.txt': 'django\nflask\n',
  'manage.py': manage,
  'shop/settings.py': "WSGI_APPLICATION = 'shop.wsgi.application'\n",
})

const django = (manage: string): CorpusTree['files'] => ({
  'requirements.txt': 'django\ngunicorn\n',
  'manage.py': manage,
  'shop/settings.py': "STATIC_ROOT = 'static'\nWSGI_APPLICATION = 'shop.wsgi.application'\n",
})

/** Projects of Django. */
export const DJANGO: CorpusTree[] = [
  {
    title: 'Django',
    files: {
      'requirements.txt': 'Django\ngunicorn\npsycopg2\n',
      'manage.py': MANAGE('mysite.settings'),
      'mysite/settings.py':
        "STATIC_ROOT = BASE_DIR / 'static'\nWSGI_APPLICATION = 'mysite.wsgi.application'\n",
    },
    plan: program(
      'django',
      'gunicorn --bind 0.0.0.0:$PORT mysite.wsgi',
      'python manage.py collectstatic --noinput',
    ),
    dockerfile: ['libpq5'],
  },
  {
    title: 'Django with parted settings, without a server',
    files: {
      'requirements.txt': '-r requirements/production.txt\n',
      'requirements/production.txt': '-r base.txt\n',
      'requirements/base.txt': 'django\n',
      'manage.py': MANAGE('config.settings.local'),
      'config/settings/base.py':
        "WSGI_APPLICATION = 'config.wsgi.application'\nif True:\n    STATIC_ROOT = 'x'\n",
      'config/settings/local.py': 'from .base import *\n',
    },
    plan: program(
      'django',
      'gunicorn --bind 0.0.0.0:$PORT config.wsgi',
      'python manage.py collectstatic --noinput',
    ),
    dockerfile: ['pip install gunicorn', 'COPY source/requirements/base.txt ./requirements/base.txt'],
  },
  {
    title: 'Django with uvicorn and styles made by node',
    files: {
      'requirements.txt': 'django\nuvicorn[standard]\n',
      'manage.py': MANAGE('site1.settings'),
      'package.json': manifest({ build: 'tailwindcss -o static/site.css' }, [], ['tailwindcss']),
    },
    plan: program('django', 'uvicorn --host 0.0.0.0 --port $PORT site1.asgi:application', 'npm run build'),
    dockerfile: ['FROM node:24-bookworm AS packages', 'COPY --from=packages /usr/local /opt/node'],
  },
  {
    title: 'Django below the folder of its requirements',
    files: {
      'requirements.txt': 'Django==5.2\ngunicorn\n',
      'backend/manage.py': MANAGE('shop.settings'),
      'backend/shop/settings.py': "STATIC_ROOT = BASE_DIR / 'static'\n",
    },
    plan: program(
      'django',
      'cd backend && gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
      'python backend/manage.py collectstatic --noinput',
    ),
  },
  {
    title: 'FastAPI in the root beside an example of Django',
    files: {
      'requirements.txt': 'fastapi\nuvicorn\ndjango\n',
      'main.py': 'app = FastAPI()\n',
      'shop/manage.py': MANAGE('shop.settings'),
    },
    plan: program('fastapi', 'uvicorn --host 0.0.0.0 --port $PORT main:app'),
  },
  {
    title: 'a package for Django that is tried by a project of its tests',
    files: {
      'requirements.txt': 'django\n',
      'tests/manage.py': MANAGE('tests.settings'),
      'example/manage.py': MANAGE('example.settings'),
    },
    plan: { runtime: 'python', startCommand: null },
  },
  {
    title: 'several Django projects below the folder of their requirements',
    files: {
      'requirements.txt': 'django\n',
      'blog/manage.py': MANAGE('blog.settings'),
      'shop/manage.py': MANAGE('shop.settings'),
    },
    plan: { runtime: 'python', startCommand: null },
  },
  {
    title: 'Django below the folder of its requirements, which the Procfile starts',
    files: {
      'requirements.txt': 'django\n',
      'backend/manage.py': MANAGE('shop.settings'),
      'backend/shop/settings.py': "STATIC_ROOT = 'static'\n",
      Procfile: 'web: sh start.sh\n',
    },
    plan: { runtime: 'python', startCommand: 'sh start.sh', buildCommand: null },
  },
  {
    title: 'Django whose pages take files that django-compressor puts together beforehand',
    files: {
      'requirements.txt': 'Django==5.2\ndjango_compressor==4.5.1\ngunicorn\n',
      'manage.py': MANAGE('shop.settings'),
      'shop/settings.py':
        "INSTALLED_APPS = (\n    'compressor',\n)\nSTATIC_ROOT = 'static'\nCOMPRESS_OFFLINE = True\n",
      'templates/base.html': '{% load compress %}\n{% compress css %}<link href="/a.css">{% endcompress %}\n',
    },
    plan: program(
      'django',
      'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
      'python manage.py collectstatic --noinput && python manage.py compress --force',
    ),
  },
  {
    title: 'Django with django-compressor in settings that manage.py does not take',
    files: {
      'requirements.txt': 'Django==5.2\ndjango-compressor==4.5.1\ngunicorn\n',
      'manage.py': MANAGE('shop.settings.local'),
      'shop/settings/local.py': "INSTALLED_APPS = [\n    'shop',\n]\nSTATIC_ROOT = 'static'\n",
      'shop/settings/production.py': "INSTALLED_APPS = [\n    'compressor',\n]\nCOMPRESS_OFFLINE = True\n",
      'templates/base.html': '{% compress css %}{% endcompress %}\n',
    },
    plan: { runtime: 'python', buildCommand: 'python manage.py collectstatic --noinput' },
  },
  {
    title: 'Django with django-compressor, whose pages take nothing of it',
    files: {
      'requirements.txt': 'Django==5.2\ndjango-compressor==4.5.1\ngunicorn\n',
      'manage.py': MANAGE('shop.settings'),
      'shop/settings.py':
        "INSTALLED_APPS = [\n    'compressor',\n]\nSTATIC_ROOT = 'static'\nCOMPRESS_OFFLINE = True\n",
      'templates/base.html': '<link href="/a.css">\n{# {% compress css %} #}\n',
    },
    plan: { runtime: 'python', buildCommand: 'python manage.py collectstatic --noinput' },
  },
  {
    title: 'Django beside the development server of its styles',
    files: {
      'package.json': manifest({ start: 'webpack --watch', build: 'webpack' }, [], ['webpack']),
      'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
      'requirements.txt': 'django\n',
      'shop/settings.py': '',
      ...NPM_LOCK,
    },
    plan: {
      runtime: 'python',
      framework: 'django',
      buildCommand: 'npm run build',
      startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
    },
  },
  {
    title: 'Django whose manage.py names its settings among others',
    files: djangoWithFlask(
      "# not 'shop.settings.local'\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', 'shop.settings')\n",
    ),
    plan: { runtime: 'python', framework: 'django', startCommand: containing('shop.wsgi') },
  },
  {
    title: 'Django whose manage.py chooses its settings, those of its tests last',
    files: djangoWithFlask(
      "name = 'shop.settings' if 'SITE' in os.environ else 'tests.settings'\nos.environ['DJANGO_SETTINGS_MODULE'] = name\n",
    ),
    plan: { runtime: 'python', framework: 'django', startCommand: containing('shop.wsgi') },
  },
  {
    title: 'a program whose manage.py names settings for its tests alone',
    files: {
      'requirements.txt': 'django\n',
      'main.py': '',
      'manage.py':
        "if 'test' in sys.argv:\n    s = 'tests.settings'\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', s)\n",
    },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: 'a project of Django whose settings come from a variable, with its documentation',
    files: {
      Pipfile: '[packages]\ndjango = "*"\ngunicorn = "*"\n\n[dev-packages]\nmkdocs = "*"\n',
      'mkdocs.yml': 'site_name: docs\n',
      'manage.py': 'load_dotenv()\nexecute_from_command_line(sys.argv)\n',
      Procfile: 'web: gunicorn project.wsgi\n',
    },
    plan: {
      runtime: 'python',
      framework: null,
      startCommand: 'gunicorn project.wsgi',
      publishDirectory: null,
    },
    without: ['pip install mkdocs'],
  },
  {
    title: 'Django whose manage.py chooses its settings',
    files: django(
      "name = 'shop.production' if 'SITE' in os.environ else 'shop.settings'\nos.environ.setdefault('DJANGO_SETTINGS_MODULE', name)\n",
    ),
    plan: {
      runtime: 'python',
      framework: 'django',
      buildCommand: 'python manage.py collectstatic --noinput',
      startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop.wsgi',
    },
  },
]
