import type { NamesPackage } from './requirements.ts'

/**
 * Debian packages that Python packages need in addition to the full base image for the build and the slim one at run time.
 */
interface SystemPackages {
  build: string[]
  run: string[]
}

const BY_PACKAGE: Record<string, Partial<SystemPackages>> = {
  psycopg: { run: ['libpq5'] },
  psycopg2: { run: ['libpq5'] },
  mysqlclient: { run: ['libmariadb3'] },
  pycairo: { build: ['libcairo2-dev'], run: ['libcairo2'] },
  cairosvg: { run: ['libcairo2'] },
  weasyprint: { run: ['libpango-1.0-0', 'libpangoft2-1.0-0', 'libharfbuzz-subset0', 'fonts-dejavu-core'] },
  pdf2image: { run: ['poppler-utils'] },
  pytesseract: { run: ['tesseract-ocr'] },
  pydub: { run: ['ffmpeg'] },
  moviepy: { run: ['ffmpeg'] },
  'openai-whisper': { run: ['ffmpeg'] },
  'python-magic': { run: ['libmagic1'] },
  'opencv-python': { run: ['libgl1', 'libglib2.0-0'] },
  'opencv-contrib-python': { run: ['libgl1', 'libglib2.0-0'] },
  graphviz: { run: ['graphviz'] },
  pygraphviz: { build: ['libgraphviz-dev'], run: ['graphviz'] },
  pyaudio: { build: ['portaudio19-dev'], run: ['libportaudio2'] },
  dlib: { build: ['cmake'] },
  'yt-dlp': { run: ['ffmpeg'] },
  // It finds the browser and its driver on their usual paths.
  selenium: { run: ['chromium', 'chromium-driver'] },
  // What its own commands download.
  reflex: { build: ['unzip'], run: ['curl', 'unzip'] },
  pyodbc: { build: ['unixodbc-dev'], run: ['unixodbc'] },
  'python-ldap': { build: ['libldap2-dev', 'libsasl2-dev'], run: ['libldap-2.5-0'] },
  xmlsec: { build: ['libxmlsec1-dev'], run: ['libxmlsec1-openssl'] },
}

/** Returns the Debian packages for the packages that a project names. */
export function systemPackages(names: NamesPackage): SystemPackages {
  const build = new Set<string>()
  const run = new Set<string>()
  for (const [name, wanted] of Object.entries(BY_PACKAGE)) {
    if (!names(name)) continue
    for (const each of wanted.build ?? []) build.add(each)
    for (const each of wanted.run ?? []) run.add(each)
  }
  return { build: [...build], run: [...run] }
}
