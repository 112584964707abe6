/** Tools by the names that Debian and Ubuntu have for them in all releases that base images use. */
const TOOLS = new Set(
  (
    'build-essential ca-certificates cmake curl default-mysql-client exiftool ffmpeg file fontconfig fonts-dejavu-core ' +
    'fonts-liberation fonts-noto-cjk fonts-noto-color-emoji gcc g++ gettext ghostscript git gnupg graphicsmagick graphviz ' +
    'imagemagick jq lsb-release libimage-exiftool-perl make openssh-client openssl pandoc pkg-config poppler-utils ' +
    'postgresql-client procps qpdf redis-tools rsync sqlite3 tesseract-ocr tzdata unzip wget xvfb zip'
  ).split(' '),
)

/** Packages that only the Debian images have: those of the JVM are based on Ubuntu. */
const OF_DEBIAN = new Set(
  (
    'chromium chromium-driver libasound2 libatk-bridge2.0-0 libatk1.0-0 libcairo2 libcairo2-dev libcups2 libcurl4-openssl-dev ' +
    'libdbus-1-3 libdrm2 libffi-dev libfontconfig1 libgbm1 libgdk-pixbuf-2.0-0 libgif-dev libgl1 libgl1-mesa-glx libglib2.0-0 ' +
    'libgomp1 libgtk-3-0 libjpeg-dev libjpeg62-turbo libmagic1 libmagickwand-dev libnspr4 libnss3 libopus0 libpango-1.0-0 ' +
    'libpango1.0-dev libpangocairo-1.0-0 libpangoft2-1.0-0 libpng-dev libpq-dev libpq5 librsvg2-dev libsm6 libsndfile1 ' +
    'libsodium-dev libssl-dev libvips libvips-dev libx11-6 libx11-xcb1 libxcb1 libxcomposite1 libxdamage1 libxext6 libxfixes3 ' +
    'libxkbcommon0 libxml2-dev libxrandr2 libxrender1 libxslt1-dev libzbar0 portaudio19-dev python3-dev zlib1g-dev libreoffice'
  ).split(' '),
)

const ON_UBUNTU = new Set(['java', 'scala', 'clojure'])

/** Whether the image of a language can install a package that a file for another host names; names in Ubuntu differ. */
export function isKnownPackage(name: string, language: string): boolean {
  return TOOLS.has(name) || (OF_DEBIAN.has(name) && !ON_UBUNTU.has(language))
}
