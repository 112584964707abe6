import { expect } from 'vitest'
import { noted, unnoted, type CorpusTree } from './tree.ts'

const MANAGE = (module: string) => `os.environ.setdefault('DJANGO_SETTINGS_MODULE', '${module}')\n`

const program = (framework: string | null, startCommand: string, buildCommand: string | null = null) => ({
  runtime: 'python',
  framework,
  startCommand,
  buildCommand,
  isSite: false,
  obstacle: null,
})

const utf16 = (text: string): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(text, 'utf16le')])

const requiring = (requirements: string): CorpusTree['files'] => ({
  'requirements.txt': requirements,
  'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
})

const python = (version: string): CorpusTree['plan'] => ({ runtime: 'python', version })

/** Requirements, package managers of Python, and the versions that they ask for. */
export const PYTHON_PACKAGES: CorpusTree[] = [
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
    title: 'a whole version of Python under Poetry, which takes no other',
    files: {
      'pyproject.toml': '[tool.poetry]\nname = "x"\n[tool.poetry.dependencies]\npython = "3.9.7"\n',
      'poetry.lock': '',
      'main.py': '',
    },
    plan: { runtime: 'python', version: '3.9.7' },
    dockerfile: ['FROM python:3.9.7-bullseye', 'FROM python:3.9.7-slim-bullseye'],
  },
  {
    title: 'a whole version of Python that has no image',
    files: { 'pyproject.toml': '[project]\nrequires-python = "==3.13.99"\n', 'main.py': '' },
    plan: { runtime: 'python', version: '3.13' },
  },
  {
    title: 'a range where a version of Python stands',
    files: { 'main.py': '', '.python-version': '>= 3.10\n' },
    plan: { runtime: 'python', version: '3.13' },
  },
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
    title: 'a project of Python whose manifest is no TOML',
    files: {
      'pyproject.toml': '[project]\ndependencies = ["flask"\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: { runtime: 'python', framework: 'flask' },
  },
  {
    title: 'an older Django without a version of Python',
    files: requiring('Django==2.2.14\ngunicorn==20.1.0\n'),
    plan: {
      ...python('3.9'),
      notes: noted('python 3.9 by Django==2.2.14 of the requirements, which supports none newer'),
    },
  },
  {
    title: 'older packages of science, of which the oldest decides',
    files: requiring(
      'pandas>=0.19\nnumpy==1.19.5\nscikit-learn==0.23.1  # the model is of this\nscipy==1.5.4\n',
    ),
    plan: python('3.8'),
  },
  {
    title: 'requirements with an upper bound',
    files: requiring('django>=3.2,<4.0\n'),
    plan: python('3.10'),
  },
  {
    title: 'requirements that grow',
    files: requiring('Django~=4.1.0\nPyYAML == 6.0\n'),
    plan: python('3.11'),
  },
  {
    title: 'a driver of PostgreSQL from before the newest Python',
    files: requiring('psycopg2_binary==2.9.9 ; platform_system == "Linux"\nDjango==5.0.1\n'),
    plan: python('3.12'),
  },
  {
    title: 'requirements that let newer ones in',
    files: requiring(
      'Django>=2.2\nnumpy>=1.19.0\npandas~=2.2\nflask==1.1.2\npydantic==2.9.1\n# numpy==1.19.0\n',
    ),
    plan: python('3.13'),
  },
  {
    title: 'older requirements for older Pythons and other systems',
    files: requiring(
      [
        'numpy==1.19.5; python_version < "3.7"',
        "numpy==1.24.4 ; python_full_version < '3.9'",
        'pandas==1.1.5; sys_platform == "win32"',
        'numpy==2.2.4; python_version >= "3.7"',
      ].join('\n'),
    ),
    plan: python('3.13'),
  },
  {
    title: 'older requirements that were looked at and run under all',
    files: requiring('PyYAML==5.3.1\nSQLAlchemy<2\npydantic<2\nSQLAlchemy==1.4.54\n'),
    plan: python('3.13'),
  },
  {
    title: 'an older requirement for every Python, of another system than one',
    files: requiring('PyYAML==5.4.1; sys_platform != "win32"\n'),
    plan: python('3.9'),
  },
  {
    title: 'requirements with hashes',
    files: requiring(
      'django==2.2.28 \\\n    --hash=sha256:0200b657afbf1bc08003845ddda053c7641b9b24951e52acd51f6abda33a7413\n',
    ),
    plan: {
      ...python('3.9'),
      notes: noted('python 3.9 by django==2.2.28 of the requirements, which supports none newer'),
    },
  },
  {
    title: 'older requirements beside a version of Python that is pinned',
    files: { ...requiring('numpy==1.19.5\n'), '.python-version': '3.11\n' },
    plan: python('3.11'),
  },
  {
    title: 'a manifest in the case of another system',
    files: {
      'Requirements.txt': 'flask\n',
      'app.py': 'from flask import Flask\napp = Flask(__name__)\n',
    },
    plan: {
      runtime: 'python',
      notes: noted('Requirements.txt is not read: on Linux its name is requirements.txt'),
    },
  },
  {
    title: 'manifests in both cases',
    files: { ...requiring('flask\n'), 'Requirements.txt': 'flask\n' },
    plan: { runtime: 'python', notes: unnoted('is not read') },
  },
  {
    title: 'an index of packages whose password is a variable',
    files: requiring('--extra-index-url https://me:${INDEX_PASSWORD}@pypi.acme.test/simple\nflask\n'),
    plan: {
      runtime: 'python',
      env: [expect.objectContaining({ key: 'INDEX_PASSWORD', generate: null })] as never,
    },
  },
]
