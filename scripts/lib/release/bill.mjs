import { capture, clip, findCommand } from '../command.mjs'
import { ROOT } from '../paths.mjs'
import { Refusal } from '../say.mjs'

/**
 * The bill of materials (CycloneDX): the packages that the server contains, from the lock file.
 *
 * @param {{ version: string, time: number }} release time: in seconds
 */
export async function billOfMaterials({ version, time }) {
  const npm = process.env.npm_execpath
  const [file, ...before] = npm ? [process.execPath, npm] : [findCommand('npm') ?? 'npm']
  const words = ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only']
  const { code, output } = await capture(file, [...before, ...words], { cwd: ROOT })
  if (code !== 0) throw new Refusal(`npm sbom failed:\n${clip(output)}`)
  const bill = JSON.parse(output.slice(output.indexOf('{')))
  // These would differ from one run to the next.
  delete bill.serialNumber
  bill.metadata.timestamp = new Date(time * 1000).toISOString()
  Object.assign(bill.metadata.component, { type: 'application', name: 'deployer', version })
  return `${JSON.stringify(bill, null, 2)}\n`
}
