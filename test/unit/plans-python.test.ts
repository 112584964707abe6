import { describe, expect, test } from 'vitest'
import { base, failure, plan, type Files } from './plan-of.ts'

describe('the python plan', () => {
  test.each<[string, Files, string]>([
    ['nothing', {}, '3.13'],
    ['.python-version', { '.python-version': '3.11.4\n' }, '3.11'],
    ['runtime.txt', { 'runtime.txt': 'python-3.12.1' }, '3.12'],
    ['requires-python', { 'pyproject.toml': '[project]\nrequires-python = ">=3.9,<3.12"\n' }, '3.11'],
    ['a compatible release', { 'pyproject.toml': '[project]\nrequires-python = "~=3.10"\n' }, '3.13'],
    ["Poetry's caret", { 'pyproject.toml': '[tool.poetry.dependencies]\npython = "^3.10"\n' }, '3.13'],
    ['an exact minor version', { 'pyproject.toml': '[project]\nrequires-python = "==3.12.*"\n' }, '3.12'],
    ['Pipfile', { Pipfile: '[requires]\npython_version = "3.10"\n' }, '3.10'],
  ])('reads the version from %s', async (_title, files, version) => {
    expect(base(await plan({ 'main.py': '', ...files }))).toBe(`FROM python:${version}-slim-bookworm`)
  })

  test('says which version it cannot read', async () => {
    await expect(plan({ 'main.py': '', 'runtime.txt': 'python-2.7' })).rejects.toMatchObject(
      failure('runtime.txt says "python-2.7"'),
    )
  })

  test.each<[string, Files, string]>([
    ['pip', { 'requirements.txt': 'flask==3\n' }, 'pip install -r requirements.txt'],
    [
      'uv',
      { 'uv.lock': '', 'pyproject.toml': '[project]\n' },
      'uv sync --frozen --no-dev --no-install-project',
    ],
    [
      'Poetry',
      { 'poetry.lock': '', 'pyproject.toml': '[tool.poetry]\n' },
      'poetry install --only main --no-root',
    ],
    ['Pipenv', { Pipfile: '', 'Pipfile.lock': '{}' }, 'pipenv sync'],
    ['pip from the project itself', { 'setup.py': '' }, 'pip install .'],
  ])('installs with %s', async (_title, files, said) => {
    expect((await plan({ 'main.py': '', ...files })).dockerfile).toContain(said)
  })

  test.each<[string, Files, string]>([
    [
      'Flask with gunicorn',
      { 'requirements.txt': 'Flask\ngunicorn==22', 'app.py': 'server = Flask(__name__)' },
      'gunicorn --bind 0.0.0.0:$PORT app:server',
    ],
    [
      'Flask on its own',
      { 'requirements.txt': 'Flask', 'app.py': 'app = Flask(__name__)' },
      'gunicorn --bind 0.0.0.0:$PORT app:app',
    ],
    [
      'a Flask factory',
      { 'requirements.txt': 'gunicorn', 'wsgi.py': 'def create_app():' },
      'gunicorn --bind 0.0.0.0:$PORT "wsgi:create_app()"',
    ],
    [
      'FastAPI',
      { 'requirements.txt': 'fastapi', 'app/main.py': 'api: FastAPI = FastAPI()' },
      'uvicorn --host 0.0.0.0 --port $PORT app.main:api',
    ],
    [
      'Django',
      {
        'requirements.txt': 'django\ngunicorn',
        'manage.py': "os.environ.setdefault('DJANGO_SETTINGS_MODULE', 'site1.settings')",
      },
      'gunicorn --bind 0.0.0.0:$PORT site1.wsgi',
    ],
    ['a plain file', { 'requirements.txt': '', 'main.py': 'print()' }, 'python main.py'],
    ['a Procfile', { 'requirements.txt': '', Procfile: 'web: python x.py' }, 'python x.py'],
  ])('starts %s', async (_title, files, command) => {
    expect((await plan(files)).startCommand).toBe(command)
  })

  test('says how to name a start command when there is none', async () => {
    expect((await plan({ 'requirements.txt': 'x' })).obstacle).toContain('add a Procfile')
  })
})
