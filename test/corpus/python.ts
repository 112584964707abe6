import { manifest, type CorpusTree } from './tree.ts'

const MANAGE = (module: string) => `os.environ.setdefault('DJANGO_SETTINGS_MODULE', '${module}')\n`

const program = (framework: string | null, startCommand: string, buildCommand: string | null = null) => ({
  runtime: 'python',
  framework,
  startCommand,
  buildCommand,
  isSite: false,
  obstacle: null,
})

/** Python programs. */
export const PYTHON: CorpusTree[] = [
  {
    title: 'Flask with gunicorn',
    files: { 'requirements.txt': 'Flask==3.0.3\ngunicorn==22.0.0\n', 'app.py': 'app = Flask(__name__)\n' },
    plan: {
      ...program('flask', 'gunicorn --bind 0.0.0.0:$PORT app:app'),
      version: '3.13',
      packageManager: 'pip',
    },
    dockerfile: [
      'FROM python:3.13-bookworm AS build',
      'FROM python:3.13-slim-bookworm',
      'COPY source/requirements.txt ./',
    ],
  },
  {
    title: 'Flask without a server',
    files: { 'requirements.txt': 'flask\n', 'app.py': 'app = Flask(__name__)\n' },
    plan: program('flask', 'gunicorn --bind 0.0.0.0:$PORT app:app'),
    dockerfile: ['pip install gunicorn'],
  },
  {
    title: 'a factory of Flask',
    files: { 'requirements.txt': 'flask\ngunicorn\n', 'app/__init__.py': 'def create_app():\n    pass\n' },
    plan: program('flask', 'gunicorn --bind 0.0.0.0:$PORT "app:create_app()"'),
  },
  {
    title: 'FastAPI',
    files: { 'requirements.txt': 'fastapi[standard]\n', 'app/main.py': 'app = FastAPI()\n' },
    plan: program('fastapi', 'uvicorn --host 0.0.0.0 --port $PORT app.main:app'),
    without: ['pip install uvicorn'],
  },
  {
    title: 'FastAPI without a server, by uv',
    files: {
      'pyproject.toml':
        '[project]\nname = "api"\nrequires-python = ">=3.12"\ndependencies = [\n  "fastapi>=0.110",\n]\n',
      'uv.lock': 'version = 1\n',
      'main.py': 'app = FastAPI()\n',
    },
    plan: { ...program('fastapi', 'uvicorn --host 0.0.0.0 --port $PORT main:app'), packageManager: 'uv' },
    dockerfile: [
      'pip install uvicorn',
      'uv sync --frozen --no-dev --no-install-project',
      'COPY source/pyproject.toml source/uv.lock ./',
    ],
  },
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
    dockerfile: [
      'pip install gunicorn',
      'COPY source/requirements/production.txt source/requirements/base.txt ./requirements/',
    ],
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
    title: 'Streamlit',
    files: { 'requirements.txt': 'streamlit\npandas\n', 'streamlit_app.py': 'import streamlit as st\n' },
    plan: program(
      'streamlit',
      'streamlit run streamlit_app.py --server.port $PORT --server.address 0.0.0.0 --server.headless true',
    ),
  },
  {
    title: 'Gradio',
    files: { 'requirements.txt': 'gradio\n', 'app.py': 'import gradio as gr\ndemo.launch()\n' },
    plan: program('gradio', 'GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python app.py'),
  },
  {
    title: 'FastHTML',
    files: {
      'requirements.txt': 'python-fasthtml\n',
      'main.py': 'from fasthtml.common import *\napp, rt = fast_app()\nserve()\n',
    },
    plan: program('fasthtml', 'uvicorn --host 0.0.0.0 --port $PORT main:app'),
  },
  {
    title: 'Dash',
    files: {
      'requirements.txt': 'dash\ngunicorn\n',
      'app.py': 'app = Dash(__name__)\nserver = app.server\n',
    },
    plan: program('dash', 'gunicorn --bind 0.0.0.0:$PORT app:server'),
  },
  {
    title: 'a bot',
    files: { 'requirements.txt': 'discord.py\n', 'bot.py': '' },
    settings: { processType: 'worker' },
    plan: program(null, 'python bot.py'),
  },
  {
    title: 'Poetry',
    files: {
      'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.11"\nflask = "*"\ngunicorn = "*"\n',
      'poetry.lock': '',
      'wsgi.py': 'application = Flask(__name__)\n',
    },
    plan: { ...program('flask', 'gunicorn --bind 0.0.0.0:$PORT wsgi:application'), packageManager: 'poetry' },
  },
  {
    title: 'a project without a lock file',
    files: {
      'pyproject.toml': '[project]\nname = "x"\ndependencies = ["starlette", "hypercorn"]\n',
      'main.py': 'app = Starlette()\n',
    },
    plan: program('starlette', 'hypercorn --bind 0.0.0.0:$PORT main:app'),
    dockerfile: ['uv pip install -r pyproject.toml'],
    without: ['--no-deps'],
  },
  {
    title: 'a packaged project with a command of its own',
    files: {
      'pyproject.toml':
        '[project]\nname = "x"\n[project.scripts]\nserve = "x:main"\n[build-system]\nrequires = ["hatchling"]\n',
      'uv.lock': '',
    },
    plan: program(null, 'serve'),
  },
  {
    title: 'PDM',
    files: {
      'pyproject.toml': '[project]\ndependencies = ["litestar", "uvicorn"]\n',
      'pdm.lock': '',
      'app.py': 'app = Litestar([])\n',
    },
    plan: { ...program('litestar', 'uvicorn --host 0.0.0.0 --port $PORT app:app'), packageManager: 'pdm' },
  },
  {
    title: 'Pipenv with a Procfile and a release',
    files: {
      Pipfile: '[packages]\ndjango = "*"\ngunicorn = "*"\n[requires]\npython_version = "3.12"\n',
      'Pipfile.lock': {},
      'manage.py': MANAGE('shop.settings'),
      Procfile: 'release: python manage.py migrate\nweb: gunicorn shop.wsgi --log-file -\n',
    },
    plan: {
      ...program('django', 'gunicorn shop.wsgi --log-file -'),
      version: '3.12',
      preDeployCommand: 'python manage.py migrate',
    },
  },
  {
    title: 'MkDocs with its material theme',
    files: {
      'mkdocs.yml': 'site_name: x\ntheme:\n  name: material\nsite_dir: public\n',
      'docs/index.md': '',
    },
    plan: {
      runtime: 'python',
      framework: 'mkdocs',
      isSite: true,
      publishDirectory: 'public',
      buildCommand: 'mkdocs build',
      startCommand: null,
    },
    dockerfile: ['pip install mkdocs mkdocs-material'],
  },
  {
    title: 'Debian packages by an Aptfile',
    files: {
      'requirements.txt': 'pdf2image\n',
      'main.py': '',
      Aptfile: '# fonts\nfonts-noto-core\n:repo:deb http://x\n',
    },
    plan: { ...program(null, 'python main.py'), aptPackages: ['fonts-noto-core'] },
    dockerfile: ['poppler-utils fonts-noto-core'],
  },
  {
    title: 'an environment of conda that Windows exported',
    files: {
      'environment.yml':
        'name: shop\nchannels:\n  - defaults\ndependencies:\n  - python=3.11.14=h981015d_0\n  - vc=14.3=h2df5915_10\n  - flask=3.0=py311_0\n  - pip:\n      - gunicorn==22.0.0\nprefix: C:\\\\Users\\\\me\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: {
      runtime: 'python',
      framework: 'flask',
      version: '3.11',
      packageManager: 'conda',
      startCommand: 'gunicorn --bind 0.0.0.0:$PORT app:app',
    },
    dockerfile: [
      'COPY manifests/environment.yml ./',
      'micromamba create --yes --always-copy --prefix /opt/venv',
    ],
    without: ['python3 -m venv', 'pip install gunicorn'],
    manifests: {
      'environment.yml':
        'name: shop\nchannels:\n  - defaults\ndependencies:\n  - pip\n  - python=3.11.14\n  - flask=3.0\n  - pip:\n      - gunicorn==22.0.0\n',
    },
  },
  {
    title: 'an environment of conda with constraints that a person wrote',
    files: {
      'environment.yml':
        'dependencies:\n  - pip # of conda\n  - python>=3.11\n  - numpy<=2\n  - scipy >=1.11,<2\n  - conda-forge::pandas=2.2\n  - conda-forge::zlib=1.3=h1_0\n  - pytorch=2.5=*cuda*\n  - "blas=*=openblas"\n  - conda-forge::pywin32\n  - pip:\n      - flask>=2\n      - vc=1=2\n      - git+https://example.com/x.git\n  - xz=5.6=h2_1\n',
      'main.py': '',
    },
    plan: { runtime: 'python', packageManager: 'conda' },
    manifests: {
      'environment.yml':
        'dependencies:\n  - pip # of conda\n  - python>=3.11\n  - numpy<=2\n  - scipy >=1.11,<2\n  - conda-forge::pandas=2.2\n  - conda-forge::zlib=1.3\n  - pytorch=2.5=*cuda*\n  - "blas=*=openblas"\n  - pip:\n      - flask>=2\n      - vc=1=2\n      - git+https://example.com/x.git\n  - xz=5.6\n',
    },
  },
  {
    title: 'an environment of conda whose items are not indented',
    files: {
      'environment.yml':
        'dependencies:\n# the language\n- python=3.10\n- flask=3.0=py310_0\n- pip:\n  - gunicorn\nchannels:\n- a=1=2\n',
      'main.py': '',
    },
    plan: { runtime: 'python', version: '3.10' },
    manifests: {
      'environment.yml':
        'dependencies:\n# the language\n- pip\n- python=3.10\n- flask=3.0\n- pip:\n  - gunicorn\nchannels:\n- a=1=2\n',
    },
  },
  {
    title: 'an environment of conda that begins with what pip installs',
    files: {
      'environment.yml': 'dependencies:\n    - pip:\n        - flask==3.0\n    - python=3.12=h1_0\n',
      'main.py': '',
    },
    plan: { runtime: 'python', version: '3.12' },
    manifests: {
      'environment.yml': 'dependencies:\n    - pip\n    - pip:\n        - flask==3.0\n    - python=3.12\n',
    },
  },
  {
    title: 'an environment of conda in one line',
    files: { 'environment.yml': 'dependencies: [python=3.10, "flask>=3", pip]\n', 'main.py': '' },
    plan: { runtime: 'python', packageManager: 'conda' },
    manifests: { 'environment.yml': 'dependencies: [python=3.10, "flask>=3", pip]\n' },
  },
  {
    title: 'requirements beside an environment of conda',
    files: { 'environment.yml': 'dependencies:\n  - flask\n', 'requirements.txt': 'flask\n', 'main.py': '' },
    plan: { runtime: 'python', packageManager: 'pip', startCommand: 'python main.py' },
  },
  {
    title: 'FastAPI in a package below src',
    files: {
      'pyproject.toml':
        '[project]\nname = "shop"\ndependencies = ["fastapi", "uvicorn"]\n[build-system]\nrequires = []\n',
      'src/shop/__init__.py': '',
      'src/shop/main.py': 'from shop.routes import router\n\napp = FastAPI()\n',
      'src/shop/routes.py': '',
    },
    plan: program('fastapi', 'PYTHONPATH=src uvicorn --host 0.0.0.0 --port $PORT shop.main:app'),
  },
  {
    title: 'a factory of FastAPI in a package below src',
    files: {
      'requirements.txt': 'fastapi\n',
      'src/shop/__init__.py': 'def create_app() -> FastAPI:\n    pass\n',
    },
    plan: program('fastapi', 'PYTHONPATH=src uvicorn --host 0.0.0.0 --port $PORT --factory shop:create_app'),
    dockerfile: ['pip install uvicorn'],
  },
  {
    title: 'a factory of Flask in a package below src',
    files: {
      'requirements.txt': 'flask\ngunicorn\n',
      'src/flaskr/__init__.py': 'def create_app():\n    pass\n',
    },
    plan: program('flask', 'PYTHONPATH=src gunicorn --bind 0.0.0.0:$PORT "flaskr:create_app()"'),
  },
  {
    title: 'FastAPI in a folder whose modules name each other as if it were the root',
    files: {
      'requirements.txt': 'fastapi\nuvicorn\n',
      'app/main.py': 'from fastapi import FastAPI\nfrom routers import items\n\napp = FastAPI()\n',
      'app/routers/items.py': '',
    },
    plan: program('fastapi', 'cd app && uvicorn --host 0.0.0.0 --port $PORT main:app'),
  },
  {
    title: 'FastAPI in a folder whose modules name each other from the root',
    files: {
      'requirements.txt': 'fastapi\nuvicorn\n',
      'app/main.py': 'from app.routers import items\nfrom . import settings\napp = FastAPI()\n',
      'app/routers/items.py': '',
    },
    plan: program('fastapi', 'uvicorn --host 0.0.0.0 --port $PORT app.main:app'),
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
    title: 'modules that have the names of the standard library and of requirements',
    files: {
      'requirements.txt': 'fastapi\nuvicorn\nredis\n',
      'app/main.py': 'import logging\nimport redis\n\napp = FastAPI()\n',
      'app/logging.py': '',
      'app/redis.py': '',
    },
    plan: program('fastapi', 'uvicorn --host 0.0.0.0 --port $PORT app.main:app'),
  },
  {
    title: 'modules that name each other from the root, and one as if it were the root',
    files: {
      'requirements.txt': 'fastapi\nuvicorn\n',
      'app/main.py': 'import settings\nfrom app.routers import items\n\napp = FastAPI()\n',
      'app/settings.py': '',
      'app/routers/items.py': '',
    },
    plan: program('fastapi', 'uvicorn --host 0.0.0.0 --port $PORT app.main:app'),
  },
  {
    title: 'a package whose own file makes the application',
    files: {
      'requirements.txt': 'flask\ngunicorn\n',
      'app/__init__.py': 'import models\n\napp = Flask(__name__)\n',
      'app/models.py': '',
    },
    plan: program('flask', 'gunicorn --bind 0.0.0.0:$PORT app:app'),
  },
  {
    title: 'a program in the root beside a package below src',
    files: {
      'requirements.txt': 'flask\n',
      'src/shop/__init__.py': 'def create_app():\n    pass\n',
      'run.py': 'create_app().run()\n',
    },
    plan: program(null, 'python run.py'),
  },
  {
    title: 'a factory below src that wants to be given something',
    files: {
      'requirements.txt': 'flask\n',
      'src/shop/__init__.py': 'def create_app(\n    config: dict[str, str],\n):\n    pass\n',
    },
    plan: { runtime: 'python', startCommand: null },
  },
  {
    title: 'a factory below src whose parameters all have a default',
    files: {
      'requirements.txt': 'flask\n',
      'src/shop/__init__.py': 'def create_app(test_config=None, *, debug=False):\n    pass\n',
    },
    plan: program('flask', 'PYTHONPATH=src gunicorn --bind 0.0.0.0:$PORT "shop:create_app()"'),
  },
  {
    title: 'MkDocs with a script that helps to write it',
    files: {
      'mkdocs.yml': 'site_name: x\n',
      'requirements.txt': 'mkdocs\ndiscord.py\n',
      'helper.py': 'if __name__ == "__main__":\n    pass\n',
      'src/shop/main.py': 'app = FastAPI()\n',
    },
    plan: { runtime: 'python', framework: 'mkdocs', isSite: true, startCommand: null },
  },
  {
    title: 'a script that serves nobody',
    files: {
      'requirements.txt': 'requests\n',
      'bump_version.py': 'if __name__ == "__main__":\n    pass\n',
      'api/go.mod': 'module x\n',
    },
    plan: { runtime: 'python', startCommand: null, rootDirectories: ['api'] },
  },
  {
    title: 'a bot whose name has a test in it',
    files: {
      'requirements.txt': 'discord.py\n',
      'contest.py': 'if __name__ == "__main__":\n    pass\n',
    },
    plan: { ...program(null, 'python contest.py'), isWorker: true },
  },
  {
    title: 'Pelican by its quick start',
    files: {
      'requirements.txt': 'pelican[markdown]\n',
      'pelicanconf.py': "SITENAME = 'x'\n",
      'publishconf.py': '',
      'content/a.md': '',
    },
    plan: {
      runtime: 'python',
      framework: 'pelican',
      isSite: true,
      buildCommand: 'pelican content -o output -s publishconf.py',
      publishDirectory: 'output',
    },
  },
  {
    title: 'Sphinx with requirements beside its pages',
    files: {
      'pyproject.toml': '[project]\nname = "lumache"\n',
      'docs/requirements.txt': 'sphinx==7.1.2\nsphinx-rtd-theme\n',
      'docs/source/conf.py': "project = 'Lumache'\nextensions = []\n",
    },
    plan: {
      runtime: 'python',
      framework: 'sphinx',
      isSite: true,
      buildCommand: 'pip install -r docs/requirements.txt && sphinx-build -b html docs/source build/html',
      publishDirectory: 'build/html',
    },
  },
  {
    title: 'a server whose documentation is made by Sphinx',
    files: {
      'requirements.txt': 'flask\nsphinx\n',
      'app.py': 'app = Flask(__name__)\n',
      'docs/conf.py': "project = 'x'\n",
    },
    plan: program('flask', 'gunicorn --bind 0.0.0.0:$PORT app:app'),
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
]
