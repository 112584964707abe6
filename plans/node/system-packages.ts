import type { Manifest } from './manifest.ts'

/** What npm packages need in the image beyond its base. */
export interface SystemPackages {
  /** Debian packages for the stage that builds, and for the image that runs. */
  build: string[]
  run: string[]
  /** Variables of both images. */
  environment: Record<string, string>
}

const BY_PACKAGE: Record<string, SystemPackages> = {
  // Prisma, "System requirements".
  '@prisma/client': { build: [], run: ['openssl'], environment: {} },
  // The browser that it would download is in the home of the user who builds, and needs libraries that no base image has.
  puppeteer: {
    build: ['chromium'],
    run: ['chromium', 'fonts-liberation'],
    environment: {
      PUPPETEER_SKIP_DOWNLOAD: 'true',
      PUPPETEER_SKIP_CHROMIUM_DOWNLOAD: 'true',
      PUPPETEER_EXECUTABLE_PATH: '/usr/bin/chromium',
    },
  },
}

/** Returns what the dependencies of a program, and those of the packages it is built from, need in its images. */
export function systemPackages(manifests: readonly Manifest[]): SystemPackages {
  const wanted: SystemPackages = { build: [], run: [], environment: {} }
  for (const [name, { build, run, environment }] of Object.entries(BY_PACKAGE)) {
    const users = manifests.filter(({ dependencies }) => name in dependencies)
    if (users.length === 0) continue
    wanted.build.push(...build)
    Object.assign(wanted.environment, environment)
    // What only developers need is present for the build, which may use it.
    if (users.some(({ devDependencies }) => !(name in devDependencies))) wanted.run.push(...run)
  }
  return wanted
}
