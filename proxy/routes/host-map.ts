/**
 * Values by host, written as in the table: `*.example.com` matches one or more labels before `example.com` and comes after
 * every exact host, the longest suffix first.
 */
export class HostMap<Value> {
  #exact = new Map<string, Value>()
  #wildcard = new Map<string, Value>()

  set(host: string, value: Value): void {
    if (host.startsWith('*.')) this.#wildcard.set(host.slice(1), value)
    else this.#exact.set(host, value)
  }

  delete(host: string): void {
    if (host.startsWith('*.')) this.#wildcard.delete(host.slice(1))
    else this.#exact.delete(host)
  }

  /** Returns the value for a name in lower case without port and trailing dot. */
  find(name: string): Value | undefined {
    const exact = this.#exact.get(name)
    if (exact !== undefined || this.#wildcard.size === 0) return exact
    for (let dot = name.indexOf('.'); dot >= 0; dot = name.indexOf('.', dot + 1)) {
      const value = this.#wildcard.get(name.slice(dot))
      if (value !== undefined) return value
    }
    return undefined
  }
}

/** Normalises a Host value or a TLS server name to the table's form: letter case, port and a trailing dot do not matter. */
export function hostName(host: string): string {
  let name = host.toLowerCase()
  const port = name.lastIndexOf(':')
  if (port >= 0 && name.indexOf(']', port) < 0) name = name.slice(0, port)
  return name.endsWith('.') ? name.slice(0, -1) : name
}
