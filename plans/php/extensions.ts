/** Extensions that the official image can compile, with the packages this takes (docker-php-ext-install). */
const COMPILED: Record<string, string[]> = {
  bcmath: [],
  calendar: [],
  exif: [],
  gd: ['libfreetype-dev', 'libjpeg62-turbo-dev', 'libpng-dev', 'libwebp-dev'],
  gettext: [],
  gmp: ['libgmp-dev'],
  intl: ['libicu-dev'],
  mysqli: [],
  opcache: [],
  pcntl: [],
  pdo_mysql: [],
  pdo_pgsql: ['libpq-dev'],
  pgsql: ['libpq-dev'],
  soap: ['libxml2-dev'],
  sockets: [],
  xsl: ['libxslt1-dev'],
  zip: ['libzip-dev'],
}

/** Extensions of PECL, with the packages to compile them. */
const FROM_PECL: Record<string, string[]> = {
  apcu: [],
  imagick: ['libmagickwand-dev'],
  memcached: ['libmemcached-dev', 'zlib1g-dev', 'libssl-dev'],
  mongodb: ['libssl-dev'],
  redis: [],
}

/** In every image: what the usual databases and frameworks need. */
const USUAL = ['mysqli', 'pdo_mysql', 'pdo_pgsql', 'bcmath', 'zip', 'pcntl', 'opcache']

/** From this version on PHP includes it (PHP 8.5, UPGRADING). */
const FIRST_WITH_OPCACHE = '8.5'

/** Line breaks for a file that `printf` writes. */
const OPCACHE = [
  'opcache.memory_consumption=128',
  'opcache.max_accelerated_files=20000',
  'opcache.revalidate_freq=60',
].join('\\n')

/** The extensions that were compiled. */
const COMPILED_FILES = `$(php -r 'echo ini_get("extension_dir");')/*.so`

/**
 * Compiles in one layer and removes the packages needed for it, except the libraries that the extensions load, as official
 * images based on PHP do (docker-library, WordPress and Drupal). Packages installed manually before stay; those that an
 * extension is linked with are marked as manual; everything else is removed.
 */
function compileWith(packages: readonly string[], commands: readonly string[]): string {
  const install = `apt-get install -y -qq --no-install-recommends ${packages.join(' ')} >/dev/null`
  return [
    'RUN marked=$(apt-mark showmanual)',
    ...(packages.length === 0 ? [] : [`apt-get update -qq && DEBIAN_FRONTEND=noninteractive ${install}`]),
    ...commands,
    "apt-mark auto '.*' >/dev/null",
    'apt-mark manual $marked >/dev/null',
    // Paths as the loader finds them, below /lib or /usr/lib; packages list one or the other.
    `ldd ${COMPILED_FILES} | sed -n 's#.* => /\\(usr/\\)\\?\\(lib/[^ ]*\\).*#*/\\2#p' | sort -u | xargs -r dpkg-query --search | cut -d: -f1 | sort -u | xargs -r apt-mark manual >/dev/null`,
    'apt-get purge -y -qq --auto-remove >/dev/null',
    `! ldd ${COMPILED_FILES} | grep 'not found'`,
    'apt-get clean && rm -rf /var/lib/apt/lists/* /tmp/pear',
  ].join(' && ')
}

/** Returns the lines that compile the required and the usual extensions and configure OPcache. */
export function extensionSteps(wanted: readonly string[], version: string): string[] {
  const compiled = [...new Set([...USUAL, ...wanted.filter((name) => name in COMPILED)])].filter(
    (name) => name !== 'opcache' || version < FIRST_WITH_OPCACHE,
  )
  const pecl = wanted.filter((name) => name in FROM_PECL)
  const packages = [
    ...compiled.flatMap((name) => COMPILED[name]!),
    ...pecl.flatMap((name) => FROM_PECL[name]!),
  ]
  // Without these it reads neither photographs nor fonts.
  const configure = compiled.includes('gd')
    ? ['docker-php-ext-configure gd --with-freetype --with-jpeg --with-webp']
    : []
  const commands = [
    ...configure,
    `docker-php-ext-install -j$(nproc) ${compiled.join(' ')}`,
    ...pecl.map((name) => `pecl install ${name} && docker-php-ext-enable ${name}`),
  ]
  return [
    compileWith([...new Set(packages)], commands),
    `RUN mkdir -p /usr/local/etc/php/conf.d && printf '${OPCACHE}\\n' >/usr/local/etc/php/conf.d/opcache-settings.ini`,
  ]
}
