import { isOfMajor } from './frameworks.ts'
import type { Manifest } from './manifest.ts'

/** Versions of tools that bundle with a webpack before 5.54, by the package that identifies them. */
const LINES: Record<string, string[]> = {
  '@angular/cli': ['1', '6', '7', '8', '9', '10', '11', '12'],
  '@rails/webpacker': ['3', '4', '5'],
  '@vue/cli-service': ['3', '4'],
  gatsby: ['1', '2', '3'],
  'laravel-mix': ['1', '2', '3', '4', '5'],
  next: ['7', '8', '9', '10', '11'],
  nuxt: ['1', '2'],
  'preact-cli': ['2', '3'],
  'react-scripts': ['1', '2', '3', '4'],
  webpack: ['2', '3', '4'],
}

/** From this version on node has OpenSSL 3, where MD4 is a legacy algorithm (nodejs.org, "Node.js 17"). */
const FIRST_WITH_OPENSSL_3 = 17

/**
 * The variable that lets an older webpack, which hashes its modules with MD4, run on a newer node; without it:
 * `ERR_OSSL_EVP_UNSUPPORTED`.
 */
export function oldWebpackEnvironment(
  manifests: readonly Pick<Manifest, 'dependencies'>[],
  nodeMajor: number | null,
  notes: string[],
): Record<string, string> {
  if (nodeMajor === null || nodeMajor < FIRST_WITH_OPENSSL_3) return {}
  for (const { dependencies } of manifests) {
    const name = Object.keys(LINES).find((each) => isOfMajor(dependencies[each], ...LINES[each]!))
    if (name === undefined) continue
    notes.push(`${name} ${dependencies[name]!.slice(0, 50)} builds with OpenSSL's older algorithms`)
    return { NODE_OPTIONS: '--openssl-legacy-provider' }
  }
  return {}
}
