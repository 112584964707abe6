import { copyFileSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { docker } from '../engine.ts'
import { findProgram } from '../packages.ts'
import { run } from '../run.ts'
import type { Recipe } from './index.ts'

/** A shell, httpd, nc, wget and sleep in 2 MB, for tests in which the program does not matter. */
export const busybox: Recipe = {
  tags: ['busybox:1', 'busybox:latest'],
  text: 'busybox-static with a link for each applet',
  make: async (folder) => {
    const root = join(folder, 'root')
    for (const name of ['bin', 'etc', 'tmp', 'root']) mkdirSync(join(root, name), { recursive: true })
    const program = findProgram('busybox')!
    copyFileSync(program, join(root, 'bin', 'busybox'))
    for (const applet of (await run(program, ['--list'])).trim().split('\n')) {
      if (applet !== 'busybox') symlinkSync('busybox', join(root, 'bin', applet))
    }
    writeFileSync(
      join(root, 'etc', 'passwd'),
      'root:x:0:0:root:/root:/bin/sh\nnobody:x:65534:65534:nobody:/:/bin/sh\n',
    )
    writeFileSync(join(root, 'etc', 'group'), 'root:x:0:\nnogroup:x:65534:\n')
    const tar = join(folder, 'root.tar')
    await run('tar', ['-C', root, '--owner=0', '--group=0', '-cf', tar, '.'])
    await docker(['import', '-c', 'CMD ["sh"]', '-c', 'ENV PATH=/bin', tar, busybox.tags[0]!])
  },
}

/** What the base image is made with; it contains the machine's own CA bundle, so that builds reach what the machine reaches. */
const BASE_ARGUMENTS = [
  '--variant=apt',
  '--include=ca-certificates',
  '--aptopt=APT::Install-Recommends "0"',
  '--dpkgopt=force-unsafe-io',
  '--dpkgopt=path-exclude=/usr/share/doc/*',
  '--dpkgopt=path-exclude=/usr/share/man/*',
  '--dpkgopt=path-exclude=/usr/share/locale/*',
  // Keeps packages that are installed in builds from starting their services.
  String.raw`--setup-hook=mkdir -p "$1/usr/sbin"; printf "#!/bin/sh\nexit 101\n" >"$1/usr/sbin/policy-rc.d"; chmod 755 "$1/usr/sbin/policy-rc.d"`,
  '--customize-hook=cp /etc/ssl/certs/ca-certificates.crt "$1/etc/ssl/certs/"; rm -rf "$1"/var/lib/apt/lists/* "$1"/var/cache/apt/*.bin',
]

/** Debian without documentation. */
export const base = debian('bookworm')
/** The release after it, for whatever must be newer. */
export const newerBase = debian('trixie')

function debian(suite: string): Recipe {
  const tag = `debian:${suite}-slim`
  return {
    tags: [tag],
    text: BASE_ARGUMENTS.join('\n'),
    make: async (folder) => {
      const tar = join(folder, 'root.tar')
      await run('mmdebstrap', [...BASE_ARGUMENTS, suite, tar])
      await docker(['import', '-c', 'CMD ["bash"]', '-c', 'ENV LANG=C.UTF-8', tar, tag])
    },
  }
}
