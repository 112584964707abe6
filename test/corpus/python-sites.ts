import { containing, type CorpusTree } from './tree.ts'

const program = (framework: string | null, startCommand: string, buildCommand: string | null = null) => ({
  runtime: 'python',
  framework,
  startCommand,
  buildCommand,
  isSite: false,
  obstacle: null,
})

/** A program of Python with its documentation. */
const DOCUMENTED = { 'mkdocs.yml': 'site_name: Shop\n', 'docs/index.md': '# Shop\n' }

/** Documentation and sites that tools of Python build. */
export const PYTHON_SITES: CorpusTree[] = [
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
    title: 'the documentation of a package that only speaks of an application',
    files: {
      'requirements.txt': 'sphinx\n',
      'shop/__init__.py': '',
      'shop/webapp.py': '# As in: app = Flask(__name__)\n',
      'docs/conf.py': 'project = "shop"\n',
    },
    plan: { runtime: 'python', isSite: true, publishDirectory: 'build/html' },
  },
  {
    title: 'documentation that a Procfile serves by its own generator',
    files: { 'mkdocs.yml': 'site_name: x\n', Procfile: 'web: mkdocs serve -a 0.0.0.0:$PORT\n' },
    plan: { runtime: 'python', startCommand: containing('mkdocs serve') },
    dockerfile: ['pip install mkdocs'],
  },
  {
    title: 'documentation whose own command builds it, and another serves it',
    files: { 'docs/conf.py': "project = 'x'\n", 'requirements.txt': '' },
    settings: { buildCommand: 'sphinx-build docs out', startCommand: 'python -m http.server $PORT -d out' },
    plan: { runtime: 'python', buildCommand: 'sphinx-build docs out' },
    dockerfile: ['pip install sphinx'],
  },
  {
    title: 'the documentation of a library for Django with a project for its tests',
    files: {
      'docs/conf.py': "project = 'shop'\nextensions = []\n",
      'requirements.txt': 'django\nsphinx\n',
      'testproject/manage.py': 'os.environ.setdefault("DJANGO_SETTINGS_MODULE", "testproject.settings")\n',
      'testproject/testproject/settings.py': '',
    },
    plan: { runtime: 'python', framework: 'sphinx', isSite: true },
  },
  {
    title: 'the documentation of a library for servers of Python',
    files: { ...DOCUMENTED, 'requirements.txt': 'fastapi\n', 'shop/__init__.py': '', 'shop/core.py': '' },
    plan: { runtime: 'python', framework: 'mkdocs', isSite: true, publishDirectory: 'site' },
  },
]
