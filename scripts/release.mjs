// npm run release: makes what a release consists of in release/ (docs/releases.md).
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { parseArgs } from 'node:util'
import { findCommand } from './lib/command.mjs'
import { ensureBuild } from './lib/build.mjs'
import { ensureDependencies, findNode } from './lib/dependencies.mjs'
import { installPackages, missingPackages } from './lib/packages.mjs'
import { ROOT } from './lib/paths.mjs'
import { billOfMaterials } from './lib/release/bill.mjs'
import { sectionOf } from './lib/release/notes.mjs'
import { ARCHITECTURES, nodePackage, runnableNode } from './lib/release/node.mjs'
import { packRelease } from './lib/release/pack.mjs'
import { publicKeyOf, readSignKey, sign, sumsOf } from './lib/release/sums.mjs'
import { Refusal, run, say } from './lib/say.mjs'

const FOLDER = join(ROOT, 'release')

run(async () => {
  const { architectures, signKey } = readFlags()
  const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'))
  const notes = sectionOf(readFileSync(join(ROOT, 'CHANGELOG.md'), 'utf8'), version)
  const time = releaseTime(notes.date)
  const key = signKey === undefined ? null : readSignKey(signKey)
  await ensureDependencies({ mayInstall: true })
  const builder = findNode()
  const missing = await missingPackages(builder)
  const needed = findCommand('patchelf') ? [] : ['patchelf']
  if (missing.includes('libatomic1')) needed.push('libatomic1')
  await installPackages(needed, { mayInstall: true })
  const built = join(await ensureBuild(builder), '../..')
  rmSync(FOLDER, { recursive: true, force: true })
  mkdirSync(FOLDER)
  const names = []
  for (const arch of architectures) {
    const work = join(ROOT, '.cache/release', arch)
    const node = await runnableNode(await nodePackage(arch, work), arch, work)
    for (const warning of node.warnings) say(`warning: ${warning}`)
    const publicKey = key && publicKeyOf(key)
    names.push(basename(await packRelease({ built, node, version, arch, publicKey, time, folder: FOLDER })))
  }
  const bill = `deployer-${version}.cdx.json`
  writeFileSync(join(FOLDER, bill), await billOfMaterials({ version, time }))
  const sums = await sumsOf(FOLDER, [...names, bill])
  writeFileSync(join(FOLDER, 'SHA256SUMS'), sums)
  if (key) writeFileSync(join(FOLDER, 'SHA256SUMS.sig'), sign(sums, key))
  writeFileSync(join(FOLDER, 'release-notes.md'), notes.text)
  for (const name of names) say(`made release/${name}`)
  if (!key) say('it is not signed: pass --sign-key with the PEM file of an Ed25519 key')
})

function readFlags() {
  const { values } = parseArgs({ options: { arch: { type: 'string' }, 'sign-key': { type: 'string' } } })
  const architectures = (values.arch ?? process.arch).split(',')
  const unknown = architectures.find((arch) => !ARCHITECTURES.includes(arch))
  if (unknown !== undefined)
    throw new Refusal(
      `--arch takes ${ARCHITECTURES.join(' and ')}, with a comma between them, not ${unknown}`,
    )
  return { architectures, signKey: values['sign-key'] }
}

/**
 * The time of every file of a release, in seconds, so that the same sources always give the same bytes
 * (reproducible-builds.org/docs/source-date-epoch).
 *
 * @param {string} date of the release
 */
function releaseTime(date) {
  const given = process.env.SOURCE_DATE_EPOCH
  const seconds = given ? Number(given) : Date.parse(date) / 1000
  if (!Number.isSafeInteger(seconds)) throw new Refusal('SOURCE_DATE_EPOCH must be whole seconds')
  return seconds
}
