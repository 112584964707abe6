import { buffer } from 'node:stream/consumers'
import { gzipSync } from 'node:zlib'
import { pack } from 'tar-stream'

/** Where the disk of a service is mounted. */
export const DISK_PATH = '/data'
/** The file, on the disk and as a page, to which each start of a program with a disk appends its text. */
export const SEEN = 'seen'

/** A start command that serves a text; with a disk, also every text that was served before. */
export function serve(text: string, hasDisk: boolean): string {
  const onDisk = `${DISK_PATH}/${SEEN}`
  const keep = hasDisk ? `echo ${text} >> ${onDisk}; cp ${onDisk} /www/${SEEN}; ` : ''
  return `mkdir -p /www; ${keep}echo -n ${text} > /www/index.html; exec httpd -f -p $PORT -h /www`
}

const DOCKERFILE = `FROM busybox:1
COPY index.html /www/
CMD ["sh", "-c", "exec httpd -f -p $PORT -h /www"]
`

/** An archive with a page of this text; a program also has a Dockerfile. */
export async function archiveOf(text: string, isProgram: boolean): Promise<Uint8Array> {
  const tar = pack()
  tar.entry({ name: 'index.html' }, text)
  if (isProgram) tar.entry({ name: 'Dockerfile' }, DOCKERFILE)
  tar.finalize()
  return gzipSync(await buffer(tar))
}
