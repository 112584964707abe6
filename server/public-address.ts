import { useContext } from './context.ts'

/** The plain HTTP port unless another was bound; URLs leave it out. */
const HTTP_PORT = 80

let httpPort: number | null = null

/** Told by the daemon once the data plane listens. */
export function setPublicHttpPort(port: number): void {
  httpPort = port
}

/** The port that the data plane serves HTTP on: the bound one, or the one asked for while it is not up. */
export function publicHttpPort(): number {
  return httpPort ?? useContext().options.httpListen.port
}

/** The public URL of a host. */
export function publicUrl(host: string): string {
  const port = publicHttpPort()
  return `http://${host}${port === HTTP_PORT ? '' : `:${port}`}`
}
