import { withoutInstallation } from '../installation.ts'
import { isRecord } from '../source/json.ts'
import type { Tree } from '../source/tree.ts'
import {
  at,
  buildOf,
  commandOf,
  commandsOf,
  OWN_COMMANDS,
  portOf,
  readRecord,
  silent,
  startsOf,
  textsIn,
  variablesOf,
  type HostFile,
} from './host-file.ts'

const FILES = ['nixpacks.toml', 'nixpacks.json']

/** The named phases of a plan: system packages, packages of the language, build. */
const INSTALL = 'install'
const BUILD = 'build'

/** Reads a build plan of Nixpacks, which is merged over what it detects (nixpacks.com, "Configuration File Reference"). */
export async function nixpacks(tree: Tree, notes: string[]): Promise<HostFile | null> {
  for (const file of FILES) {
    const value = await readRecord(tree, file, notes)
    if (value !== null) return nixpacksPlan(file, value)
  }
  return null
}

/** Reads the same plan from any file. */
export function nixpacksPlan(file: string, value: Record<string, unknown>): HostFile {
  const phases = isRecord(value.phases) ? value.phases : {}
  const command = commandOf(at(value, 'start', 'cmd'))
  const names = Object.keys(phases)
  const installing = commandsOf(at(phases, INSTALL, 'cmds'))
  // Other phases run between installation and build, or where `dependsOn` puts them.
  const others = names.filter((name) => name !== 'setup' && name !== INSTALL && name !== BUILD)
  const before = others.filter((name) => !textsIn(at(phases, name, 'dependsOn')).includes(BUILD))
  const after = others.filter((name) => !before.includes(name))
  const cmds = (name: string): string[] => commandsOf(at(phases, name, 'cmds'))
  const beside = [
    ...installing.filter((each) => each !== OWN_COMMANDS && withoutInstallation(each) !== null),
    ...before.flatMap(cmds),
  ]
  const building = isRecord(phases[BUILD]) && 'cmds' in phases[BUILD] ? cmds(BUILD) : [OWN_COMMANDS]
  const all = [...beside, ...building, ...after.flatMap(cmds)]
  return {
    ...silent(file),
    starts: startsOf(command),
    build: buildOf(all),
    installs: installing,
    aptPackages: names
      .flatMap((name) => [
        ...textsIn(at(phases, name, 'aptPkgs')),
        ...textsIn(at(phases, name, 'nixPkgs')).map((each) => debianOf(each.replace(/^pkgs\./, ''))),
      ])
      .filter((each) => each !== OWN_COMMANDS),
    variables: variablesOf(value.variables),
    port: portOf(at(value, 'variables', 'PORT')),
  }
}

function debianOf(nix: string): string {
  return Object.hasOwn(DEBIAN, nix) ? DEBIAN[nix]! : nix
}

/** Names of Nix packages with programs, and their Debian names. */
const DEBIAN: Record<string, string> = {
  chromium: 'chromium',
  curl: 'curl',
  exiftool: 'libimage-exiftool-perl',
  ffmpeg: 'ffmpeg',
  'ffmpeg-full': 'ffmpeg',
  file: 'file',
  ghostscript: 'ghostscript',
  git: 'git',
  graphicsmagick: 'graphicsmagick',
  graphviz: 'graphviz',
  imagemagick: 'imagemagick',
  jq: 'jq',
  libreoffice: 'libreoffice',
  'mariadb-client': 'default-mysql-client',
  pandoc: 'pandoc',
  poppler_utils: 'poppler-utils',
  postgresql: 'postgresql-client',
  qpdf: 'qpdf',
  sqlite: 'sqlite3',
  tesseract: 'tesseract-ocr',
  wget: 'wget',
}
