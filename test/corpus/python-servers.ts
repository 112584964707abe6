import { containing, manifest, type CorpusTree } from './tree.ts'

const program = (framework: string | null, startCommand: string, buildCommand: string | null = null) => ({
  runtime: 'python',
  framework,
  startCommand,
  buildCommand,
  isSite: false,
  obstacle: null,
})

const django = (manage: string): CorpusTree['files'] => ({
  'requirements.txt': 'django\nflask\n',
  'manage.py': manage,
  'shop/settings.py': "WSGI_APPLICATION = 'shop.wsgi.application'\n",
})

/** A program of Python with its documentation. */
const DOCUMENTED = { 'mkdocs.yml': 'site_name: Shop\n', 'docs/index.md': '# Shop\n' }

const PYTHON = { 'requirements.txt': 'flask\n', 'app.py': 'from flask import Flask\napp = Flask(__name__)\n' }

const factory = (requirements: string, app: string): CorpusTree['files'] => ({
  'requirements.txt': requirements,
  'app.py': app,
})

/** Programs of Python that serve, by their frameworks. */
export const PYTHON_SERVERS: CorpusTree[] = [
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
    title: 'a script that serves nobody',
    files: {
      'requirements.txt': 'requests\n',
      'bump_version.py': 'if __name__ == "__main__":\n    pass\n',
      'api/go.mod': 'module x\n',
    },
    plan: { runtime: 'python', startCommand: null, rootDirectories: ['api'] },
  },
  {
    title: 'Flask whose requirements speak of a server that they do not name',
    files: {
      'requirements.txt': 'flask # gunicorn comes later\n# gunicorn\n',
      'app.py': 'app = Flask(__name__)\n',
    },
    plan: { runtime: 'python', startCommand: 'gunicorn --bind 0.0.0.0:$PORT app:app' },
    dockerfile: ['pip install gunicorn'],
  },
  {
    title: 'Streamlit with a first page of any name',
    files: {
      'requirements.txt': 'streamlit\n',
      'Chat_bot.py': 'import streamlit as st\n',
      'helpers.py': '',
      'pages/1_More.py': 'import streamlit as st\n',
    },
    plan: {
      runtime: 'python',
      framework: 'streamlit',
      startCommand:
        'streamlit run Chat_bot.py --server.port $PORT --server.address 0.0.0.0 --server.headless true',
    },
  },
  {
    title: 'a program in Python that drives a browser of Playwright',
    files: { 'requirements.txt': 'flask\nplaywright==1.50\n', 'app.py': 'app = Flask(__name__)\n' },
    plan: { runtime: 'python', framework: 'flask' },
    dockerfile: ['RUN /opt/venv/bin/playwright install --with-deps chromium'],
  },
  {
    title: 'Reflex',
    files: { 'requirements.txt': 'reflex>=0.8\n', 'rxconfig.py': '', 'counter/counter.py': '' },
    plan: {
      runtime: 'python',
      framework: 'reflex',
      startCommand: 'reflex run --env prod --single-port --frontend-port $PORT --backend-port $PORT',
    },
  },
  {
    title: 'an API whose project links to its chat',
    files: {
      'pyproject.toml':
        '[project]\nname = "api"\nrequires-python = ">=3.12"\nkeywords = ["telegram"]\ndependencies = [\n  "litestar",\n  "uvicorn",\n]\n\n[project.urls]\nDiscord = "https://discord.gg/example"\n',
      'app.py': 'from litestar import Litestar\napp = Litestar([])\n',
    },
    plan: {
      runtime: 'python',
      framework: 'litestar',
      isWorker: false,
      startCommand: 'uvicorn --host 0.0.0.0 --port $PORT app:app',
    },
  },
  {
    title: 'Gradio that a program starts from its parts',
    files: { 'requirements.txt': 'gradio\n', 'main.py': 'from parts import build\nbuild().launch()\n' },
    plan: {
      runtime: 'python',
      startCommand: 'GRADIO_SERVER_NAME=0.0.0.0 GRADIO_SERVER_PORT=$PORT python main.py',
    },
  },
  {
    title: 'Shiny for Python',
    files: { 'requirements.txt': 'shiny\n', 'app.py': 'from shiny.express import ui\n' },
    plan: {
      runtime: 'python',
      framework: 'shiny',
      startCommand: 'shiny run --host 0.0.0.0 --port $PORT app.py',
    },
  },
  {
    title: 'Panel',
    files: { 'requirements.txt': 'panel\n', 'app.py': 'import panel as pn\npn.panel("x").servable()\n' },
    plan: {
      runtime: 'python',
      framework: 'panel',
      startCommand: "panel serve app.py --address 0.0.0.0 --port $PORT --allow-websocket-origin='*'",
    },
  },
  {
    title: 'Solara',
    files: { 'requirements.txt': 'solara\n', 'app.py': 'import solara\n' },
    plan: {
      runtime: 'python',
      framework: 'solara',
      startCommand: 'solara run app.py --host 0.0.0.0 --port $PORT --production --no-open',
    },
  },
  {
    title: 'Flask that shows what Panel draws',
    files: {
      'requirements.txt': 'panel\nflask\ngunicorn\n',
      'app.py': 'import panel as pn\nfrom flask import Flask\napp = Flask(__name__)\n',
    },
    plan: { runtime: 'python', framework: 'flask' },
  },
  {
    title: 'a program that serves Panel itself',
    files: {
      'requirements.txt': 'panel\n',
      'main.py':
        'import panel as pn\npn.panel("x").servable()\npn.serve(page, port=int(os.environ["PORT"]))\n',
    },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: 'Starlette with a part of Shiny',
    files: {
      'requirements.txt': 'shiny\nstarlette\nuvicorn\n',
      'app.py':
        'from starlette.applications import Starlette\nfrom shiny import App\napp = Starlette(routes=[])\n',
    },
    plan: { runtime: 'python', startCommand: 'uvicorn --host 0.0.0.0 --port $PORT app:app' },
  },
  {
    title: 'a program beside a page of Shiny',
    files: {
      'requirements.txt': 'shiny\n',
      'main.py': 'from app import page\npage()\n',
      'app.py': 'from shiny.express import ui\n',
    },
    plan: { runtime: 'python', startCommand: 'python main.py' },
  },
  {
    title: 'a page of Shiny that is no module of a server for Python',
    files: {
      'requirements.txt': 'shiny\n',
      'app.py': 'from shiny import (\n    App,\n    ui,\n)\napp = App(ui.page_fluid(), None)\n',
    },
    plan: { runtime: 'python', framework: 'shiny' },
  },
  {
    title: 'a manage.py of something else that names settings',
    files: {
      ...django("load('other.settings')\n"),
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: { runtime: 'python', framework: 'flask' },
  },
  {
    title: 'a factory whose application another module makes',
    files: { 'requirements.txt': 'flask\n', 'app.py': 'def create_app():\n    return made(Starlette)\n' },
    plan: { runtime: 'python', framework: 'flask', startCommand: containing('"app:create_app()"') },
  },
  {
    title: 'a factory of Flask in a module that names others',
    files: {
      'requirements.txt': 'flask\nquart\n',
      'app.py': '# or app = Quart(__name__)\ndef create_app():\n    app = Flask(__name__)\n    return app\n',
    },
    plan: { runtime: 'python', framework: 'flask', startCommand: containing('"app:create_app()"') },
  },
  {
    title: 'a factory of Quart beside a helper of Flask',
    files: {
      'requirements.txt': 'flask\nquart\n',
      'app.py':
        'def create_app(\n    config=None,\n) -> Quart:\n    # By default\n\n    app = Quart(__name__)\n    return app\n\ndef old():\n    return FastAPI()\n',
    },
    plan: { runtime: 'python', framework: 'quart', startCommand: containing('--factory app:create_app') },
  },
  {
    title: 'a package of Flask that has an application beside the one of its own',
    files: {
      'requirements.txt': 'flask\n',
      'shop/__init__.py': 'app = Flask(__name__)\n',
      'shop/webapp.py': 'app = Flask(__name__)\n',
    },
    plan: { runtime: 'python', startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop:app' },
  },
  {
    title: 'a factory of Flask beside a helper that makes another application',
    files: {
      'requirements.txt': 'flask\nfastapi\n',
      'app.py':
        'def create_app(\n    config=None,\n):\n    return build(config)\n\ndef helper():\n    api = FastAPI()\n    return api\n',
    },
    plan: { runtime: 'python', framework: 'flask', startCommand: containing('"app:create_app()"') },
  },
  {
    title: 'a factory of FastAPI beside a helper that makes another application',
    files: {
      'requirements.txt': 'fastapi\n',
      'app.py':
        'def legacy():\n    old = Flask(__name__)\n    return old\n\ndef create_app():\n    return build()\n',
    },
    plan: { runtime: 'python', framework: 'fastapi', startCommand: containing('--factory app:create_app') },
  },
  {
    title: 'a workspace of two languages with folders of libraries',
    files: {
      'pyproject.toml': '[project]\nname = "saas"\n\n[tool.uv.workspace]\nmembers = ["apps/api"]\n',
      'apps/web/package.json': manifest({ start: 'next start' }, ['next']),
      'libs/eslint-config/package.json': manifest({}),
    },
    plan: { runtime: 'python', rootDirectories: ['apps/web'] },
  },
  {
    title: 'a package of Python that serves, with its documentation',
    files: {
      ...DOCUMENTED,
      'requirements.txt': 'fastapi\nuvicorn\n',
      'shop/__init__.py': '',
      'shop/app.py': 'from fastapi import FastAPI\nfrom .config import settings\napp = FastAPI()\n',
    },
    plan: {
      runtime: 'python',
      framework: 'fastapi',
      isSite: false,
      startCommand: 'uvicorn --host 0.0.0.0 --port $PORT shop.app:app',
    },
  },
  {
    title: 'a server that a tool of its packages is to run',
    files: {
      'pyproject.toml': '[project]\nname = "shop"\nversion = "1"\ndependencies = ["fastapi", "uvicorn"]\n',
      'uv.lock': '',
      'main.py': 'from fastapi import FastAPI\napp = FastAPI()\n',
      Procfile: 'web: uv run uvicorn main:app --host 0.0.0.0 --port $PORT\n',
    },
    plan: { runtime: 'python', startCommand: 'uv run uvicorn main:app --host 0.0.0.0 --port $PORT' },
    dockerfile: ['> /opt/venv/bin/uv'],
  },
  {
    title: 'a program of Python whose developers have tools of Go',
    files: {
      ...PYTHON,
      'go.mod': 'module example.com/devtools\n\ngo 1.24\n\ntool mvdan.cc/sh/v3/cmd/shfmt\n',
      'go.sum': '',
    },
    plan: { runtime: 'python', startCommand: containing('gunicorn') },
  },
  {
    title: 'a package of Flask with its documentation',
    files: {
      'requirements.txt': 'flask\n',
      'shop/__init__.py': '',
      'shop/webapp.py': 'import flask\n\napp = flask.Flask(__name__, static_folder=folder)\n',
      'docs/conf.py': 'project = "shop"\n',
    },
    plan: { runtime: 'python', isSite: false, startCommand: 'gunicorn --bind 0.0.0.0:$PORT shop.webapp:app' },
  },
  {
    title: 'a factory of Quart',
    files: factory(
      'quart\nuvicorn\ngunicorn\n',
      'def create_app():\n    app = Quart(__name__)\n    return app\n\napp = create_app()\n',
    ),
    plan: {
      runtime: 'python',
      framework: 'quart',
      startCommand: 'uvicorn --host 0.0.0.0 --port $PORT --factory app:create_app',
    },
  },
  {
    title: 'a factory of Starlette beside Flask',
    files: factory(
      'starlette\nflask\n',
      'def create_app() -> Starlette:\n    return Starlette(routes=routes)\n',
    ),
    plan: { runtime: 'python', framework: 'starlette', startCommand: containing('--factory app:create_app') },
  },
  {
    title: 'a library in Python that python runs as a command',
    files: {
      'pyproject.toml': '[project]\nname = "tidy"\ndependencies = ["click"]\n',
      'tidy/__init__.py': '',
      'tidy/__main__.py': '',
    },
    plan: { runtime: 'python', startCommand: null },
  },
]
