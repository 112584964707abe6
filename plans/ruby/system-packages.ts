import type { Debian } from '../base-images.ts'
import type { Gemfile } from './gemfile.ts'

/** Debian packages that gems need at run time, in addition to the slim base image. */
const BY_GEM: Record<string, string[]> = {
  // It looks for a JavaScript runtime when it is loaded.
  execjs: ['nodejs'],
  pg: ['libpq5'],
  mysql2: ['libmariadb3'],
  sqlite3: ['libsqlite3-0'],
  'ruby-vips': ['libvips42'],
  rmagick: ['libmagickwand-6.q16-6', 'imagemagick'],
  mini_magick: ['imagemagick'],
  charlock_holmes: ['libicu72'],
  'ruby-oci8': ['libaio1'],
  tiny_tds: ['libsybdb5'],
  'ruby-filemagic': ['libmagic1'],
  streamio_ffmpeg: ['ffmpeg'],
  curb: ['libcurl4'],
  psych: ['libyaml-0-2'],
}

/** Packages for compiling gems, in addition to the full base image. */
const TO_BUILD: Record<string, string[]> = {
  execjs: ['nodejs'],
  'ruby-vips': ['libvips42'],
  tiny_tds: ['freetds-dev'],
}

/** Packages with another name in Debian 11. */
const IN_BULLSEYE: Record<string, string> = { libicu72: 'libicu67' }

/** Returns the Debian packages for the gems of a Gemfile. */
export function systemPackages({ has }: Gemfile, debian: Debian): { build: string[]; run: string[] } {
  const named = (name: string): string => (debian === 'bullseye' ? (IN_BULLSEYE[name] ?? name) : name)
  const wanted = (table: Record<string, string[]>): string[] => [
    ...new Set(Object.entries(table).flatMap(([gem, packages]) => (has(gem) ? packages.map(named) : []))),
  ]
  return { build: wanted(TO_BUILD), run: wanted(BY_GEM) }
}
