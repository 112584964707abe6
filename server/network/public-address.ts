import { useContext } from '../context.ts'
import { isLocalName } from '../domains/names.ts'

/** The default ports, which URLs leave out. */
const HTTP_PORT = 80
const HTTPS_PORT = 443

/** The ports that the data plane listens on; `https` is null when it does not serve HTTPS. */
export interface ListenerPorts {
  http: number
  https: number | null
}

let bound: ListenerPorts | null = null

/** Called by the daemon once the data plane listens. */
export function setListenerPorts(ports: ListenerPorts): void {
  bound = ports
}

/** The port of the data plane's HTTP listener: the bound one, or the configured one while it is not up. */
export function httpListenerPort(): number {
  return bound?.http ?? useContext().options.httpListen.port
}

/** The port of the HTTPS listener, in the same way. */
export function httpsListenerPort(): number {
  return bound?.https ?? useContext().options.httpsListen.port
}

/** The port at which the internet reaches the HTTP listener. */
export function publicHttpPort(): number {
  return useContext().options.publicHttpPort ?? httpListenerPort()
}

/** Whether a host is served over HTTPS, with a certificate from an authority. */
function isSecure(host: string): boolean {
  return useContext().options.tls !== 'off' && !isLocalName(host)
}

/** The public URL of a host, or of a pattern of hosts. */
export function publicUrl(host: string): string {
  if (isSecure(host)) return `https://${authority(host, httpsListenerPort(), HTTPS_PORT)}`
  return `http://${authority(host, publicHttpPort(), HTTP_PORT)}`
}

function authority(host: string, port: number, usual: number): string {
  return port === usual ? host : `${host}:${port}`
}
